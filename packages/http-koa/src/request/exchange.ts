import {
  type Client,
  InvalidTokenError,
  OutcomeUnknownError,
  PermissionDeniedError,
  type TokenVerifier,
} from '@plant-store/domain';
import type { default as KoaApplication, Context as KoaContext, Middleware, Next } from 'koa';
import { exposedHeaders, HttpError } from './failures.js';
import { announcesBody, bearerToken, countedMethod, RequestIds } from './headers.js';
import type { AccessRefusal, HttpObserver } from './http-observer.js';
import { failureResponse, type Response, sendAtOnce, sendThroughKoa } from './response.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** The context of Koa with its exchange, which is not in `ctx.state`: other middleware may replace that. */
export type Context = KoaContext & { plantStore: Exchange };

/** What is done for one method of a path. Rejects with an error that `failures` lists, or with a bug. */
export type Operation = (ctx: Context) => Response | Promise<Response>;

/** What the requests of one application share. */
export class Exchanges {
  readonly requestIds = new RequestIds();
  readonly maxInFlight: number;
  /** How many operations are carried out now. */
  inFlight = 0;
  readonly #observer: HttpObserver;
  readonly #own: KoaApplication | undefined;

  /**
   * @param maxInFlight The most operations carried out at once.
   * @param own The application, unless it is that of a host.
   */
  constructor(observer: HttpObserver, maxInFlight: number, own?: KoaApplication) {
    this.#observer = observer;
    this.maxInFlight = maxInFlight;
    this.#own = own;
  }

  /**
   * The middleware outside of third-party middleware. It begins and ends each request, reports it to the observer once,
   * and turns the errors of third-party middleware into failures.
   */
  readonly outside = async (ctx: KoaContext, next: Next): Promise<void> => {
    const exchange = this.#begin(ctx);
    try {
      await next();
      exchange.checkResponded();
    } catch (error) {
      exchange.failOutside(error);
    }
    exchange.end(this.#observer);
  };

  /** Creates the middleware inside of third-party middleware. It carries out an operation, and sends its response. */
  readonly inside = (operation: Operation): Middleware => {
    return (ctx) => ctx.plantStore.perform(operation);
  };

  /** Creates the middleware for an operation without third-party middleware around it. */
  readonly whole = (operation: Operation): Middleware => {
    return (ctx) => this.outside(ctx, () => ctx.plantStore.perform(operation));
  };

  /** Reports a failure of the service to the observer, and to the listeners of the application. */
  report(ctx: Context, error: number, cause: unknown): void {
    const { app, plantStore } = ctx;
    this.#observer.failed({ requestId: plantStore.requestId, error, cause });
    // Koa's own listener would print what the observer of an application of its own has got.
    const listens = app !== this.#own || app.listeners('error').some((it) => it !== app.onerror);
    if (listens) app.emit('error', cause instanceof Error ? cause : new Error(`${cause}`), ctx);
  }

  #begin(ctx: KoaContext): Exchange {
    const exchange = new Exchange(ctx as Context, this);
    ctx.plantStore = exchange;
    this.#observer.begun();
    return exchange;
  }
}

/** One request and its response. Only this file changes its state. */
export class Exchange {
  readonly requestId: string;
  /** When the request began, in milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #ctx: Context;
  readonly #all: Exchanges;
  #client: string | undefined;
  #response: Response | undefined;
  #cause: unknown;
  /** Whether its plant may be stored: while the storage is at work, and after a response that does not deny it. */
  #mayBeStored = false;
  /** Whether its response is final, so that nothing may be stored any more. */
  #isOver = false;

  constructor(ctx: Context, all: Exchanges) {
    this.#ctx = ctx;
    this.#all = all;
    this.requestId = all.requestIds.of(ctx.req);
  }

  /** Carries out an operation, and sends its response or its failure. */
  async perform(operation: Operation): Promise<void> {
    try {
      this.respond(await operation(this.#ctx));
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** Resolves with the client whose token the request has. Rejects with a `HttpError`, or as `verify` does. */
  async authenticate(verifier: TokenVerifier): Promise<Client> {
    const client = await verifier.verify(bearerToken(this.#ctx.req));
    this.#client = client.name;
    return client;
  }

  /** Carries out what may store a plant, counted. It does not begin after other middleware has ended the request. */
  async carryOut(work: () => Promise<Response>): Promise<Response> {
    if (this.#isOver || this.#ctx.headerSent) throw new HttpError('REQUEST_TIMEOUT');
    if (this.#all.inFlight >= this.#all.maxInFlight) throw new HttpError('OVERLOADED');
    this.#all.inFlight += 1;
    this.#mayBeStored = true;
    try {
      return await work();
    } catch (error) {
      this.#mayBeStored = error instanceof OutcomeUnknownError;
      throw error;
    } finally {
      this.#all.inFlight -= 1;
    }
  }

  /** Responds, unless the response is decided. */
  respond(response: Response): void {
    if (this.#isOver) return;
    this.#response ??= response;
    this.#send(this.#response);
  }

  /** Responds with the failure for an error, unless the response is decided. Reports a failure of the service. */
  fail(cause: unknown): void {
    const response = failureResponse(cause);
    const { failure } = response;
    if (failure.ours) this.#all.report(this.#ctx, failure.error, cause);
    if (this.#response === undefined) this.#cause = cause;
    this.respond(response);
  }

  /**
   * Responds to an error of third-party middleware. It cannot deny a write: a stored plant stays a 200, and a request
   * that is ended while the storage carries it out has an unknown outcome.
   */
  failOutside(error: unknown): void {
    const isDecided = this.#response !== undefined;
    if (!isDecided) this.#ctx.set(exposedHeaders(error));
    this.fail(this.#mayBeStored && !isDecided ? endedEarly(error) : error);
  }

  /** Third-party middleware may have responded, for example to a CORS preflight. Without a response, Koa's status is 404. */
  checkResponded(): void {
    if (this.#response !== undefined) return;
    if (this.#mayBeStored) throw new Error('other middleware has not awaited `next()`');
    const { status, body, respond } = this.#ctx;
    if (status === 404 && body === undefined && respond !== false) {
      throw new Error('no middleware has responded');
    }
  }

  /** Ends the exchange, and reports it. */
  end(observer: HttpObserver): void {
    const ctx = this.#ctx;
    if (this.#response === undefined) {
      this.#closeUnlessRead();
      ctx.set('X-Request-Id', this.requestId);
    } else if (this.#mayBeStored && ctx.status >= 400 && ctx.status !== this.#response.status) {
      this.#send(this.#response);
    }
    this.#isOver = true;
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: !ctx.res.headersSent && !ctx.writable ? CLIENT_GONE : ctx.status,
      error: this.#response?.failure?.error,
      durationMs: performance.now() - this.startedAt,
      requestId: this.requestId,
      client: this.#client,
      refusal: refusalOf(this.#cause),
      request: ctx.req,
    });
  }

  #send(response: Response): void {
    this.#closeUnlessRead();
    if (this.#ctx.isDirect) sendAtOnce(this.#ctx.res, response, this.requestId);
    else sendThroughKoa(this.#ctx, response, this.requestId);
  }

  /** Closes the connection after a response that was sent before the body was read. */
  #closeUnlessRead(): void {
    const { req, res } = this.#ctx;
    const isRead = !announcesBody(req) || (req.complete && req.readableLength === 0);
    if (!isRead || this.#response?.failure?.closes) res.shouldKeepAlive = false;
  }
}

function refusalOf(cause: unknown): AccessRefusal | undefined {
  if (cause instanceof InvalidTokenError) return cause.reason;
  return cause instanceof PermissionDeniedError ? 'permission' : undefined;
}

function endedEarly(cause: unknown): OutcomeUnknownError {
  const message = 'other middleware ended the request before the storage responded';
  return new OutcomeUnknownError(message, { cause });
}
