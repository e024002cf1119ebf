import { countedMethod, requestIdOf } from './headers.js';
import { type HttpObserver, parserErrorOf } from './http-observer.js';
import type { OwnRequest } from './own-request.js';
import { failureResponse, type Response } from './response.js';

/** Returns the response to a request that does not reach Koa, and its id. Reports the request to the observer. */
export function refuse(
  cause: unknown,
  request: OwnRequest,
  observer: HttpObserver | undefined,
): [response: Response, requestId: string] {
  const requestId = requestIdOf(request);
  const response = failureResponse(cause);
  const { status, error, ours } = response.failure;
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
  return [response, requestId];
}
