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

/** The method as it may be counted: bounded, whatever clients send (OpenTelemetry, HTTP metrics). */
export function countedMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER';
}
