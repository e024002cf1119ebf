import {
  type Client,
  InvalidTokenError,
  OutcomeUnknownError,
  PermissionDeniedError,
  type TokenVerifier,
} from '@plant-store/domain';
import type { default as KoaApplication, Context as KoaContext, Middleware, Next } from 'koa';
import { exposedHeaders, HttpError } from './failures.js';
import { announcesBody, bearerToken, countedMethod, requestIdOf } from './headers.js';
import type { AccessRefusal, HttpObserver } from './http-observer.js';
import { failureResponse, type Response, sendAtOnce, sendThroughKoa } from './response.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

const ENDED_EARLY = 'other middleware ended the request before the storage responded';

/** The context of Koa with its exchange, which is not in `ctx.state`: other middleware may replace that. */
export type Context = KoaContext & { plantStore: Exchange };

/** What is done for one method of a path. Rejects with an error that `failures` lists, or with a bug. */
export type Operation = (ctx: Context) => Response | Promise<Response>;

/** What the requests of one application share. */
export class Exchanges {
  /** The most operations carried out at once. */
  readonly maxInFlight: number;
  /** How many operations are carried out now. */
  inFlight = 0;
  readonly #observer: HttpObserver;
  readonly #own: KoaApplication | undefined;

  /** @param own The application, unless it is that of a host. */
  constructor(observer: HttpObserver, maxInFlight: number, own?: KoaApplication) {
    this.#observer = observer;
    this.maxInFlight = maxInFlight;
    this.#own = own;
  }

  /** The middleware outside of third-party middleware. It begins and ends each request, and reports it to the observer once. */
  readonly outside = async (ctx: KoaContext, next: Next): Promise<void> => {
    const exchange = new Exchange(ctx as Context, this);
    this.#observer.begun();
    try {
      await next();
      exchange.complete();
    } catch (error) {
      exchange.completeWith(error);
    }
    exchange.end(this.#observer);
  };

  /** Creates the middleware inside of third-party middleware. It carries out an operation, and sends its response. */
  readonly inside =
    (operation: Operation): Middleware =>
    (ctx) =>
      ctx.plantStore.perform(operation);

  /** Creates the middleware for an operation without third-party middleware: both in one. */
  readonly whole =
    (operation: Operation): Middleware =>
    (ctx) =>
      this.outside(ctx, () => ctx.plantStore.perform(operation));

  /** Reports a failure of the service to the observer, and to the listeners of the application. */
  report(ctx: Context, error: number, cause: unknown): void {
    const { app, plantStore } = ctx;
    this.#observer.failed({ requestId: plantStore.requestId, error, cause });
    // Koa's own listener would print what the observer of an application of its own has got.
    const listens = app !== this.#own || app.listeners('error').some((it) => it !== app.onerror);
    if (listens) app.emit('error', cause instanceof Error ? cause : new Error(`${cause}`), ctx);
  }
}

/**
 * What is known of the outcome, and so what third-party middleware around the routes may still do:
 *
 * - `open`: nothing is stored. It may respond (@koa/cors) or throw (koa-passport, `ctx.throw`). Then nothing will be stored.
 * - `storing`: the storage is at work. If it ends the request now (a time limit), the outcome is unknown.
 * - `stored`: the plant is, or may be, stored. An error, or the status of an error handler, does not replace the response.
 * - `decided`: there is any other response. It may change the status.
 */
type Outcome = 'open' | 'storing' | 'stored' | 'decided';

/** One request and its response. */
export class Exchange {
  readonly requestId: string;
  /** When the request began, in milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #ctx: Context;
  readonly #all: Exchanges;
  #outcome: Outcome = 'open';
  /** The response of the routes, or the failure; `undefined` when third-party middleware responds. */
  #response: Response | undefined;
  #client: string | undefined;
  #refusal: AccessRefusal | undefined;

  constructor(ctx: Context, all: Exchanges) {
    this.#ctx = ctx;
    ctx.plantStore = this;
    this.#all = all;
    this.requestId = requestIdOf(ctx.req);
  }

  /** Carries out an operation, and sends its response or its failure. */
  async perform(operation: Operation): Promise<void> {
    try {
      this.#decide(await operation(this.#ctx));
    } catch (cause) {
      this.#fail(cause);
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
    if (this.#outcome !== 'open' || this.#ctx.headerSent) throw new HttpError('REQUEST_TIMEOUT');
    if (this.#all.inFlight >= this.#all.maxInFlight) throw new HttpError('OVERLOADED');
    this.#all.inFlight += 1;
    this.#outcome = 'storing';
    try {
      return await work();
    } catch (error) {
      const isDenied = this.#outcome === 'storing' && !(error instanceof OutcomeUnknownError);
      if (isDenied) this.#outcome = 'open';
      throw error;
    } finally {
      this.#all.inFlight -= 1;
    }
  }

  /** Checks what third-party middleware has left. It may have responded, for example to a CORS preflight. */
  complete(): void {
    if (this.#outcome === 'storing') throw new Error('other middleware has not awaited `next()`');
    const { status, body, respond } = this.#ctx;
    if (this.#response === undefined) {
      // The status of Koa without a response is 404.
      const isMissing = status === 404 && body === undefined && respond !== false;
      if (isMissing) throw new Error('no middleware has responded');
      this.#closeUnlessRead();
      this.#ctx.set('X-Request-Id', this.requestId);
    } else if (this.#outcome === 'stored' && status >= 400 && status !== this.#response.status) {
      this.#send(this.#response);
    }
  }

  /** Responds to an error of third-party middleware. If the response is decided, sends it again. */
  completeWith(error: unknown): void {
    const decided = this.#response;
    if (this.#outcome === 'open') this.#ctx.set(exposedHeaders(error));
    this.#fail(
      this.#outcome === 'storing' ? new OutcomeUnknownError(ENDED_EARLY, { cause: error }) : error,
    );
    if (decided) this.#send(decided);
  }

  /** Ends the exchange, and reports it. */
  end(observer: HttpObserver): void {
    if (this.#outcome === 'open') this.#outcome = 'decided';
    const ctx = this.#ctx;
    observer.ended({
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: !ctx.res.headersSent && !ctx.writable ? CLIENT_GONE : ctx.status,
      error: this.#response?.failure?.error,
      durationMs: performance.now() - this.startedAt,
      requestId: this.requestId,
      client: this.#client,
      refusal: this.#refusal,
      request: ctx.req,
    });
  }

  /** Sends a response, unless one is decided. */
  #decide(response: Response): void {
    if (this.#outcome === 'stored' || this.#outcome === 'decided') return;
    this.#outcome = this.#outcome === 'storing' ? 'stored' : 'decided';
    this.#response = response;
    this.#send(response);
  }

  /** Sends the failure for an error, unless a response is decided. Reports a failure of the service in any case. */
  #fail(cause: unknown): void {
    const response = failureResponse(cause);
    const { failure } = response;
    if (failure.ours) this.#all.report(this.#ctx, failure.error, cause);
    if (this.#response === undefined) this.#refusal = refusalOf(cause);
    this.#decide(response);
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
