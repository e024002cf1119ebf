import type { Middleware } from 'koa';

/**
 * Resolves with middleware for pages of these origins. They may send any header, since tracers and SDKs add their own, and
 * credentials, since a proxy in front may need its cookies; here, no cookie has an effect. Source: Fetch Standard, "HTTP
 * extensions".
 */
export async function corsFor(origins: readonly string[]): Promise<Middleware> {
  const { default: cors } = await import('@koa/cors');
  return cors({
    origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
    allowMethods: 'POST',
    credentials: true,
    exposeHeaders: 'X-Request-Id,WWW-Authenticate,Retry-After,Allow',
    // In seconds; the longest that Chromium caches a preflight response.
    maxAge: 7200,
  });
}
