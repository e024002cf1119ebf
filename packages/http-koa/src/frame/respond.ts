import { InvalidTokenError, OutcomeUnknownError, PermissionDeniedError } from '@plant-store/domain';
import type {
  DefaultContext,
  DefaultState,
  Context as KoaContext,
  Middleware,
  ParameterizedContext,
} from 'koa';
import { checkHttp } from './check-http.js';
import { exposedHeaders, type Failure, toFailure } from './failures.js';
import { announcesBody, RequestIds } from './header-fields.js';
import { CLIENT_GONE, countedMethod, type HttpObserver, type Refusal } from './http-observer.js';
import { failureResponse, type Response, sendResponse } from './response.js';

/** The state that the middleware of one request share. */
export interface RequestState {
  readonly requestId: string;
  /** When the request began, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Whether its body was read completely, so that the next request can follow. */
  bodyRead: boolean;
  /** Whether its plant may be stored: from the call of the storage on, unless the storage reports the opposite. */
  mayBeStored: boolean;
  /** Whether its response is final, so that nothing may be stored any more. */
  isOver: boolean;
  /** The name of the client, once its token was verified. */
  client: string | undefined;
  /** The response to the request. */
  response: Response | undefined;
  /** The failure that the response reports. */
  failure: Failure | undefined;
  /** Why the token was refused. */
  refusal: Refusal | undefined;
}

/** What a request adds to the context of Koa. It is not in `ctx.state`, which other middleware may replace. */
export interface PlantStoreContext extends DefaultContext {
  plantStore: RequestState;
}

export type Context = ParameterizedContext<DefaultState, PlantStoreContext>;

/** A middleware that puts its response into `ctx.plantStore`. */
export type Handler = Middleware<DefaultState, PlantStoreContext>;

/** A function that sends a response to the client. */
export type Send = (ctx: Context, response: Response) => void;

/** Sends a response through Koa, so that outer middleware can read and change it. */
export const throughKoa: Send = (ctx, { status, fields, body }) => {
  complete(ctx);
  ctx.status = status;
  for (let index = 0; index < fields.length; index += 2) {
    ctx.set(fields[index] ?? '', fields[index + 1] ?? '');
  }
  if (body !== undefined) ctx.body = body;
};

/** Adds what every response has that goes through Koa, also that of third-party middleware. */
function complete(ctx: Context): void {
  closeUnlessRead(ctx);
  ctx.set('X-Request-Id', ctx.plantStore.requestId);
}

/** Sends a response at once and in one write, without Koa. For a `FastKoa` only. */
export const atOnce: Send = (ctx, response) => {
  ctx.respond = false;
  closeUnlessRead(ctx);
  if (ctx.writable) sendResponse(ctx.res, response, ctx.plantStore.requestId);
};

/**
 * Creates the middleware outside of third-party middleware. It begins and ends each request, reports it to the
 * observer once, and turns the errors of third-party middleware into failures.
 *
 * Such middleware cannot deny a write: a stored plant stays a 200, and a request that is ended while the storage
 * carries it out has an unknown outcome.
 */
export function exchange(observer: HttpObserver, send: Send) {
  const requestIds = new RequestIds();
  return async function exchange(ctx: KoaContext, next: (ctx: Context) => unknown) {
    begin(ctx, requestIds);
    const { plantStore: state } = ctx;
    observer.begun();
    try {
      checkHttp(ctx.req);
      await next(ctx);
      checkResponded(ctx);
    } catch (error) {
      const response = fail(state, causeOf(state, error), observer);
      if (response !== undefined) {
        ctx.set(exposedHeaders(error));
        send(ctx, response);
      }
    }
    if (state.response === undefined) complete(ctx);
    else if (deniesWrite(ctx, state.response)) send(ctx, state.response);
    state.isOver = true;
    observer.ended(exchangeOf(ctx));
  };
}

/**
 * Creates the middleware inside of third-party middleware: it sends the response that a handler has put into the
 * state, or a failure for the error that it has thrown.
 */
export function respond(observer: HttpObserver, send: Send, handle: Handler): Handler {
  return async function respond(ctx, next) {
    const { plantStore: state } = ctx;
    try {
      await handle(ctx, next);
    } catch (cause) {
      fail(state, cause, observer);
    }
    if (state.response !== undefined && !state.isOver) send(ctx, state.response);
  };
}

function begin(ctx: KoaContext, requestIds: RequestIds): asserts ctx is Context {
  ctx.plantStore = {
    requestId: requestIds.of(ctx.req),
    startedAt: performance.now(),
    bodyRead: false,
    mayBeStored: false,
    isOver: false,
    client: undefined,
    response: undefined,
    failure: undefined,
    refusal: undefined,
  } satisfies RequestState;
}

/** Third-party middleware may have responded, for example to a CORS preflight. Without a response, Koa's status is 404. */
function checkResponded(ctx: Context): void {
  const { response, mayBeStored } = ctx.plantStore;
  if (response !== undefined) return;
  if (mayBeStored) throw new Error('other middleware has not awaited `next()`');
  const isUntouched = ctx.status === 404 && ctx.body === undefined;
  if (isUntouched && ctx.respond !== false) throw new Error('no middleware has responded');
}

/** Returns the error of third-party middleware, as the cause of an unknown outcome when the storage is at work. */
function causeOf({ mayBeStored, response }: RequestState, cause: unknown): unknown {
  if (!mayBeStored || response !== undefined) return cause;
  const message = 'other middleware ended the request before the storage responded';
  return new OutcomeUnknownError(message, { cause });
}

/** Decides the failure for an error, and returns its response; `undefined` when the response was decided before. */
function fail(state: RequestState, cause: unknown, observer: HttpObserver): Response | undefined {
  const failure = toFailure(cause);
  if (failure.ours) observer.failed({ requestId: state.requestId, error: failure.error, cause });
  if (state.response !== undefined) return undefined;
  state.failure = failure;
  state.refusal = refusalOf(cause);
  state.response = failureResponse(failure);
  return state.response;
}

function refusalOf(cause: unknown): Refusal | undefined {
  if (cause instanceof InvalidTokenError) return cause.reason;
  return cause instanceof PermissionDeniedError ? 'permission' : undefined;
}

/** Whether third-party middleware reports that nothing was stored, although the plant may be. */
function deniesWrite(ctx: Context, response: Response): boolean {
  return ctx.plantStore.mayBeStored && ctx.status >= 400 && ctx.status !== response.status;
}

/** Closes the connection after a response that was sent before the body was read. */
function closeUnlessRead({ req, res, plantStore: state }: Context): void {
  const isUnread = announcesBody(req) && !state.bodyRead;
  if (isUnread || state.failure?.closes) res.shouldKeepAlive = false;
}

function exchangeOf(ctx: Context) {
  const { plantStore: state } = ctx;
  const isClientGone = !ctx.res.headersSent && !ctx.writable;
  return {
    method: countedMethod(ctx.req.method),
    route: ctx._matchedRoute,
    status: isClientGone ? CLIENT_GONE : ctx.status,
    error: state.failure?.error,
    durationMs: performance.now() - state.startedAt,
    requestId: state.requestId,
    client: state.client,
    refusal: state.refusal,
    request: ctx.req,
  };
}
