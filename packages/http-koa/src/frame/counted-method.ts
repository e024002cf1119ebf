const METHODS = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);

/**
 * Returns the method for metrics: `_OTHER` for unknown ones, so that clients cannot add label values.
 *
 * Source: OpenTelemetry, semantic conventions for HTTP metrics.
 */
export function countedMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER';
}
