import type { TokenRefusal } from '@plant-store/domain';

/** How a request ended. No member but `requestId` holds anything that a client can choose freely. */
export interface Exchange {
  /** The method, or `_OTHER` when it is not one that HTTP defines or could not be read. */
  readonly method: string;
  /** The path of the route that was matched; `undefined` when there is none. */
  readonly route: string | undefined;
  /** The status of the response; 499 when the client closed the connection before there was one. */
  readonly status: number;
  /** The number in the body of a failure. */
  readonly error: number | undefined;
  /** Milliseconds from the end of the headers to the response. */
  readonly duration: number;
  readonly requestId: string;
  /** The name of the client, once its token was verified. */
  readonly client: string | undefined;
  /** Why the token was refused, for the log alone; `undefined` when it was not. */
  readonly refusal: Refusal | undefined;
}

/** Why a token is refused: it is not valid, or it does not permit the operation. */
export type Refusal = TokenRefusal | 'permission';

/** A failure that is the service's own. */
export interface OwnFailure {
  readonly requestId: string;
  /** The number in the body of the response. */
  readonly error: number;
  readonly cause: unknown;
}

/** Receives what happens, to log and measure it. It must not throw. */
export interface HttpObserver {
  /** A request begins. */
  begun(): void;
  /** A request has ended, with a response or because its client has gone: once for each that began. */
  ended(exchange: Exchange): void;
  /** Something that is the service's own has failed: once for each failure. */
  failed(failure: OwnFailure): void;
}

/** The status under which requests are counted whose client did not wait for the response. */
export const CLIENT_GONE = 499;
