import type { IncomingMessage } from 'node:http';
import { InvalidTokenError, PermissionDeniedError } from '@plant-store/domain';

/** A request and its response, or the end of its connection. Only `requestId` and `request` contain text that a client chose. */
export interface EndedExchange {
  /** The method, or `_OTHER` if HTTP does not define it or it could not be read. */
  readonly method: string;
  /** The path of the matched route; `undefined` when there is none. */
  readonly route: string | undefined;
  /** The status of the response, before a host changes it; 499 if the client closed the connection first. */
  readonly status: number;
  /** The error number of the response; `undefined` unless it is a failure. */
  readonly error: number | undefined;
  /** Milliseconds from the beginning of the request to its response. A pipelined request begins after the previous response. */
  readonly durationMs: number;
  readonly requestId: string;
  /** The name of the client; `undefined` unless its token was verified. */
  readonly client: string | undefined;
  /** Why the token was refused, for the log only; `undefined` if it was not. */
  readonly refusal: AccessRefusal | undefined;
  /** Node.js's code for an error of its parser, such as `HPE_INVALID_METHOD`, for the log only; `undefined` without one. */
  readonly parserError: string | undefined;
  /** The request, for example for the address of the client. If Node.js could not read its headers, it has none. */
  readonly request: IncomingMessage;
}

/** Why a client is refused: its token is invalid, or does not permit the operation. */
export type AccessRefusal = InvalidTokenError['reason'] | 'permission';

/** Returns why an error refuses a client; `undefined` if it does not. */
export function accessRefusalOf(cause: unknown): AccessRefusal | undefined {
  if (cause instanceof InvalidTokenError) return cause.reason;
  return cause instanceof PermissionDeniedError ? 'permission' : undefined;
}

/** Returns the name of the client that lacks a permission; `undefined` if another error refuses it. */
export function refusedClientOf(cause: unknown): string | undefined {
  return cause instanceof PermissionDeniedError ? cause.client?.name : undefined;
}

/** Returns the code of the parser's error that made a request fail; `undefined` for any other error. */
export function parserErrorOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? `${cause.code}` : '';
  return code.startsWith('HPE_') ? code : undefined;
}

/** A failure caused by the service itself. */
export interface ServiceFailure {
  readonly requestId: string;
  /** The error number of the response. */
  readonly error: number;
  readonly cause: unknown;
}

/** Receives what happens to requests, for logs and metrics. It must not throw. */
export interface HttpObserver {
  begun(): void;
  /**
   * Called once for each request, when its response is ready; the client may receive it later, or never. With
   * `plantStoreRoutes`, the host can still change it.
   */
  ended(exchange: EndedExchange): void;
  /** Called once for each failure caused by the service itself. */
  failed(failure: ServiceFailure): void;
}
