import type { Failure } from './failures.js';
import type { Refusal } from './http-observer.js';
import type { Response } from './response.js';

/** Everything that the steps of one request pass on to each other. */
export interface RequestState {
  readonly requestId: string;
  /** When it began, on the clock of `performance.now()`. */
  readonly startedAt: number;
  /** Whether all of its body was read, so that the next request can follow. */
  bodyRead: boolean;
  /** The name of the client, once its token was verified. */
  client: string | undefined;
  /** What the request is responded to with. */
  response: Response | undefined;
  /** The failure that the response reports. */
  failure: Failure | undefined;
  /** Why the token was refused. */
  refusal: Refusal | undefined;
  /** Whether the response was handed to Koa, or sent. */
  isSent: boolean;
}

/** The `ctx.state` of Koa: one member, so that it meets no other that an application may have. */
export interface PlantStoreState {
  plantStore: RequestState;
}

/** The state of a request that begins now. */
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
