import type { Failure } from './failures.js';
import type { Refusal } from './http-observer.js';
import type { Response } from './response.js';

/** The state that the middleware of one request share. */
export interface RequestState {
  readonly requestId: string;
  /** When the request began, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Whether its body was read completely, so that the next request can follow. */
  bodyRead: boolean;
  /** The name of the client, once its token was verified. */
  client: string | undefined;
  /** The response to the request. */
  response: Response | undefined;
  /** The failure that the response reports. */
  failure: Failure | undefined;
  /** Why the token was refused. */
  refusal: Refusal | undefined;
  /** Whether the response was handed to Koa, or sent. */
  isSent: boolean;
}

/** The `ctx.state` of Koa: one member, to avoid conflicts with those of an application. */
export interface PlantStoreState {
  plantStore: RequestState;
}

/** Returns the state of a request that begins now. */
export function newRequestState(requestId: string): RequestState {
  return {
    requestId,
    startedAt: performance.now(),
    bodyRead: false,
    client: undefined,
    response: undefined,
    failure: undefined,
    refusal: undefined,
    isSent: false,
  };
}
