import type { AppOptions } from '@plant-store/http-koa';

/** Resolves with middleware for pages of these origins, never with cookies. Source: Fetch Standard, "HTTP extensions". */
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
      // Source of the last two: W3C Trace Context.
      allowHeaders: 'authorization,content-type,x-request-id,traceparent,tracestate',
      exposeHeaders: 'X-Request-Id,WWW-Authenticate,Retry-After,Allow',
      // In seconds; the longest that Chromium caches a preflight response.
      maxAge: 7200,
    }),
  ];
}
