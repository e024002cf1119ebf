import type { IncomingMessage } from 'node:http';
import { InvalidTokenError, PermissionDeniedError } from '@plant-store/domain';

/** What happens to a request, for logs and metrics. Only `requestId` and `request` contain text that a client chose. */
export type HttpEvent =
  | { readonly type: 'request begun' }
  | EndedRequest
  | {
      /** The service itself is at fault. Reported before the end of the request. */
      readonly type: 'request failed';
      readonly requestId: string;
      /** The error number of the response. */
      readonly error: number;
      readonly cause: unknown;
    };

/** Reported once for each request, when its response is ready: a host can still change it, and the client may be gone. */
export interface EndedRequest {
  readonly type: 'request ended';
  /** The method, or `_OTHER` if HTTP does not define it or it could not be read. */
  readonly method: string;
  /** The path of the matched route; `undefined` when there is none. */
  readonly route: string | undefined;
  /** The status of the response, before a host changes it; 499 if the client closed the connection first. */
  readonly status: number;
  /** The error number of the response; `undefined` unless it is a failure, and for `/readyz`. */
  readonly error: number | undefined;
  /** Milliseconds from the beginning of the request to its response. A pipelined request begins after the previous response. */
  readonly durationMs: number;
  readonly requestId: string;
  /** The name of the client; `undefined` unless its token was verified. */
  readonly client: string | undefined;
  /** Why the token was refused, for the log and metrics only; `undefined` if it was not. */
  readonly refusal: string | undefined;
  /** Node.js's code for an error of its parser, such as `HPE_INVALID_METHOD`, for the log only; `undefined` without one. */
  readonly parserError: string | undefined;
  /** The request, for example for the address of the client. If Node.js could not read its headers, it has none. */
  readonly request: IncomingMessage;
}

/** Receives each event as it happens. It must return quickly and must not throw. */
export type HttpObserver = (event: HttpEvent) => void;

/** Returns why an error refuses a client; `undefined` if it does not. */
export function refusalOf(cause: unknown): string | undefined {
  const refuses = cause instanceof InvalidTokenError || cause instanceof PermissionDeniedError;
  return refuses ? cause.message : undefined;
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
