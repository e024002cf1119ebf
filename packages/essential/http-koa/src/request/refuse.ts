import type { IncomingMessage } from 'node:http';
import { countedMethod, jsonHeaders, requestIdOf } from './headers.js';
import { type HttpObserver, parserErrorOf } from './http-observer.js';
import { toFailure } from './respond-to-failures.js';

/** The response to a request that does not reach Koa. */
export interface Refusal {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Returns the option `refuse` for `@plant-store/http-server`: the usual format of a failure, reported to the observer. */
export function refuseWith(
  observer?: HttpObserver,
): (cause: unknown, request: IncomingMessage) => Refusal {
  return (cause, request) => {
    const requestId = requestIdOf(request);
    const { status, error, message, ours } = toFailure(cause);
    observer?.begun();
    if (ours) observer?.failed({ requestId, error, cause });
    observer?.ended({
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
      headers: Object.entries(jsonHeaders(requestId)).flat(),
      body: JSON.stringify({ error, message }),
    };
  };
}
