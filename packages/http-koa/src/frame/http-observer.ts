/** How a request was answered. No member holds anything that a client can choose freely, but `requestId`. */
export interface Exchange {
  /** The method, or `_OTHER` when it is not one that HTTP defines or could not be read. */
  readonly method: string;
  /** The path of the route that was matched; `undefined` when there is none. */
  readonly route: string | undefined;
  /** The status of the answer; 499 when the client went before there was one. */
  readonly status: number;
  /** The number in the body of a failure. */
  readonly error: number | undefined;
  /** Milliseconds from the end of the headers to the answer. */
  readonly duration: number;
  readonly requestId: string;
  /** The name of the client, once its token was verified. */
  readonly client: string | undefined;
}

/** A failure that is the service's own. */
export interface OwnFailure {
  readonly requestId: string;
  /** The number that the client was answered. */
  readonly error: number;
  readonly cause: unknown;
}

/** Is told what happens, to log and measure it. It must not throw. */
export interface HttpObserver {
  /** A request begins. */
  begun(): void;
  /** It has been answered, or its client has gone: exactly once for each that began. */
  ended(exchange: Exchange): void;
  /** Something that is the service's own has failed: once for each failure. */
  failed(failure: OwnFailure): void;
}

/** The status under which requests are counted whose client did not wait for the answer. */
export const CLIENT_GONE = 499;

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
