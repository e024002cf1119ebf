import type { IncomingMessage } from 'node:http';
import { toFailure } from '@plant-store/http-koa';
import { countedMethod, requestIdOf } from './headers.js';
import { type HttpObserver, parserErrorOf } from './http-event.js';

/** The response to a request that does not reach Koa. */
export interface Refusal {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Returns the option `refuse` for `@plant-store/http-server`: the usual format of a failure, reported to the observer. */
export function refuseWith(
  observer: HttpObserver = () => undefined,
): (cause: unknown, request: IncomingMessage) => Refusal {
  return (cause, request) => {
    const requestId = requestIdOf(request);
    const { status, error, message, ours } = toFailure(cause);
    observer({ type: 'request begun' });
    if (ours) observer({ type: 'request failed', requestId, error, cause });
    observer({
      type: 'request ended',
      method: countedMethod(request.method),
      route: undefined,
      status,
      error,
      durationMs: 0,
      requestId,
      client: undefined,
      refusal: undefined,
      parserError: parserErrorOf(cause),
      request,
    });
    return {
      status,
      headers: [
        ...['Content-Type', 'application/json; charset=utf-8'],
        ...['Cache-Control', 'no-store'],
        ...['X-Request-Id', requestId],
      ],
      body: JSON.stringify({ error, message }),
    };
  };
}
