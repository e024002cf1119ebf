import type { AppOptions } from '@plant-store/http-koa';

/** The header fields of requests that pages may set, in lower case. Source of the last two: W3C Trace Context. */
const REQUEST_FIELDS = 'authorization,content-type,x-request-id,traceparent,tracestate';

/** The header fields of responses that pages may read. */
const RESPONSE_FIELDS = 'X-Request-Id,WWW-Authenticate,Retry-After,Allow';

/** How long a browser may cache the response to a preflight; Chromium caches it no longer. */
const MAX_AGE_SECONDS = 7200;

/**
 * Resolves with the middleware that lets pages of these origins call the service; with none when there are no
 * origins, because an application without middleware responds faster. Cookies are never allowed.
 *
 * Source: Fetch Standard, "HTTP extensions".
 */
export async function corsFor(
  origins: readonly string[] | undefined,
): Promise<NonNullable<AppOptions['before']>> {
  if (origins === undefined) return [];
  const { default: cors } = await import('@koa/cors');
  return [
    cors({
      origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
      allowMethods: 'POST',
      allowHeaders: REQUEST_FIELDS,
      exposeHeaders: RESPONSE_FIELDS,
      maxAge: MAX_AGE_SECONDS,
    }),
  ];
}
