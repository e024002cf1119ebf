import type { AppOptions } from '@plant-store/http-koa';

/** The fields of a request beyond those that every page may set, in lower case. Source: Trace Context for the last two. */
const REQUEST_FIELDS = [
  'authorization',
  'content-type',
  'x-request-id',
  'traceparent',
  'tracestate',
];

/** The fields of a response beyond those that every page may read. */
const RESPONSE_FIELDS = ['X-Request-Id', 'WWW-Authenticate', 'Retry-After', 'Allow'];

/** How long a browser may keep the response to a preflight: the most that Chromium does. */
const MAX_AGE_SECONDS = 7200;

/**
 * The middleware that lets pages of these origins call the service, and none for no origins: a service
 * without CORS keeps its shorter way to a response. Cookies are never allowed, since none are read.
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
