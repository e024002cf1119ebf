import type { AppOptions } from '@plant-store/http-koa';

/**
 * Resolves with middleware for pages of these origins, which may send any header: tracers and SDKs add their own. Cookies
 * are never involved. Source: Fetch Standard, "HTTP extensions".
 */
export async function corsFor(
  origins: readonly string[] | undefined,
): Promise<NonNullable<AppOptions['before']>> {
  // An application without middleware responds faster.
  if (origins === undefined) return [];
  const { default: cors } = await import('@koa/cors');
  return [
    cors({
      origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
      allowMethods: 'POST',
      exposeHeaders: 'X-Request-Id,WWW-Authenticate,Retry-After,Allow',
      // In seconds; the longest that Chromium caches a preflight response.
      maxAge: 7200,
    }),
  ];
}
