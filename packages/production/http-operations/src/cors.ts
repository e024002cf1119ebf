import type KoaApplication from 'koa';

/**
 * Resolves with an application around this one, for pages of these origins. They may send any header, since tracers and SDKs
 * add their own, and credentials, since a proxy in front may need its cookies; here, no cookie has an effect. Source: Fetch
 * Standard, "HTTP extensions".
 */
export async function withCors(
  app: KoaApplication,
  origins: readonly string[] | undefined,
): Promise<KoaApplication> {
  if (origins === undefined) return app;
  const [{ default: Koa }, { default: cors }] = await Promise.all([
    import('koa'),
    import('@koa/cors'),
  ]);
  const host = new Koa();
  host.silent = true;
  host.use(
    cors({
      origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
      allowMethods: 'POST',
      credentials: true,
      exposeHeaders: 'X-Request-Id,WWW-Authenticate,Retry-After,Allow',
      // In seconds; the longest that Chromium caches a preflight response.
      maxAge: 7200,
    }),
  );
  for (const middleware of app.middleware) host.use(middleware);
  return host;
}
