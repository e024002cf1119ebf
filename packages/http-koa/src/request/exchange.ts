import { type Client, OutcomeUnknownError, type TokenVerifier } from '@plant-store/domain';
import type { default as KoaApplication, Context as KoaContext, Middleware, Next } from 'koa';
import { exposedHeaders, HttpError } from './failures.js';
import { bearerToken, countedMethod, requestIdOf } from './headers.js';
import {
  type EndedExchange,
  type HttpObserver,
  parserErrorOf,
  refusalOf,
} from './http-observer.js';
import { closeUnlessRead, failureResponse, type Response, send } from './response.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

const ENDED_EARLY = 'other middleware ended the request before the storage responded';

/** The context of Koa with its exchange, which is not in `ctx.state`: other middleware may replace `ctx.state`. */
export type Context = KoaContext & { plantStore: Exchange };

/** What is done for one method of a path. Rejects with an error that `failures` lists, or with a bug. */
export type Operation = (ctx: Context) => Response | Promise<Response>;

/** What the requests of one application share, and the middleware that makes an exchange of each. */
export class Exchanges {
  readonly maxInFlight: number;
  inFlight = 0;
  readonly #observer: HttpObserver;
  readonly #ownApp: KoaApplication | undefined;

  /** @param ownApp The application, unless it is that of a host. */
  constructor(observer: HttpObserver, maxInFlight: number, ownApp?: KoaApplication) {
    this.#observer = observer;
    this.maxInFlight = maxInFlight;
    this.#ownApp = ownApp;
  }

  /** The outermost middleware, around third-party middleware. It begins and ends each request, and reports it once. */
  readonly track = async (ctx: KoaContext, next: Next): Promise<void> => {
    const exchange = new Exchange(ctx as Context, this);
    this.#observer.begun();
    try {
      await next();
      exchange.middlewareReturned();
    } catch (error) {
      exchange.middlewareThrew(error);
    }
    this.#observer.ended(exchange.end());
  };

  /** Creates the innermost middleware. It carries out an operation, and sends its response. */
  readonly respond =
    (operation: Operation): Middleware =>
    (ctx) =>
      ctx.plantStore.respondWith(operation);

  /** Creates the middleware for an operation without third-party middleware: both in one. */
  readonly trackAndRespond =
    (operation: Operation): Middleware =>
    (ctx) =>
      this.track(ctx, () => ctx.plantStore.respondWith(operation));

  /** Reports a failure of the service to the observer, and to the listeners of the application. */
  report(ctx: Context, error: number, cause: unknown): void {
    const { app, plantStore } = ctx;
    this.#observer.failed({ requestId: plantStore.requestId, error, cause });
    // Koa's default listener would print the failure a second time.
    const listens = app !== this.#ownApp || app.listeners('error').some((it) => it !== app.onerror);
    if (listens) app.emit('error', cause instanceof Error ? cause : new Error(`${cause}`), ctx);
  }
}

/**
 * One request and its response. What third-party middleware around the routes may still do depends on whether there is
 * a response, and whether the plant may be stored:
 *
 * - Neither: it may respond (@koa/cors) or throw (koa-passport, `ctx.throw`). Then nothing will be stored.
 * - Maybe stored, no response: the storage is at work. If middleware ends the request now, such as a time limit, the
 *   outcome is unknown.
 * - Maybe stored, a response: an error, or the status of an error handler, does not replace the response.
 * - Any other response: it may change the status. If it throws, the response is sent again.
 */
export class Exchange {
  readonly requestId: string;
  /** When the request began, in milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #ctx: Context;
  readonly #exchanges: Exchanges;
  #client: string | undefined;
  #refusal: EndedExchange['refusal'];
  /** The response of the routes, or the failure; `undefined` before it, and when third-party middleware responds. */
  #response: Response | undefined;
  #mayBeStored = false;
  #hasEnded = false;

  constructor(ctx: Context, exchanges: Exchanges) {
    this.#ctx = ctx;
    ctx.plantStore = this;
    this.#exchanges = exchanges;
    this.requestId = requestIdOf(ctx.req);
  }

  /** Carries out an operation, and sends its response or its failure. */
  async respondWith(operation: Operation): Promise<void> {
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
    const exchanges = this.#exchanges;
    // No client gets this response: it only stops the operation.
    if (this.#isDecided || this.#ctx.headerSent) throw new HttpError('REQUEST_TIMEOUT');
    if (exchanges.inFlight >= exchanges.maxInFlight) throw new HttpError('OVERLOADED');
    exchanges.inFlight += 1;
    this.#mayBeStored = true;
    try {
      return await work();
    } catch (error) {
      this.#mayBeStored = error instanceof OutcomeUnknownError;
      throw error;
    } finally {
      exchanges.inFlight -= 1;
    }
  }

  /** Checks what third-party middleware has left. It may have responded, for example to a CORS preflight. */
  middlewareReturned(): void {
    const { status, body, respond } = this.#ctx;
    if (this.#response) {
      const isReplaced = status >= 400 && status !== this.#response.status;
      if (this.#mayBeStored && isReplaced) this.#send(this.#response);
    } else if (this.#mayBeStored) {
      // `track` passes this on to `middlewareThrew`, as the one below.
      throw new Error('other middleware has not awaited `next()`');
    } else if (status === 404 && body === undefined && respond !== false) {
      // The status of Koa without a response is 404.
      throw new Error('no middleware has responded');
    } else {
      closeUnlessRead(this.#ctx);
      this.#ctx.set('X-Request-Id', this.requestId);
    }
  }

  /** Responds to an error of third-party middleware. If the response is decided, sends it again. */
  middlewareThrew(error: unknown): void {
    if (this.#response) {
      this.#fail(error);
      this.#send(this.#response);
    } else if (this.#mayBeStored) {
      this.#fail(new OutcomeUnknownError(ENDED_EARLY, { cause: error }));
    } else {
      this.#ctx.set(exposedHeaders(error));
      this.#fail(error);
    }
  }

  /** Ends the exchange. Returns what the observer receives. */
  end(): EndedExchange {
    this.#hasEnded = true;
    const ctx = this.#ctx;
    return {
      method: countedMethod(ctx.req.method),
      route: ctx._matchedRoute,
      status: !ctx.res.headersSent && !ctx.writable ? CLIENT_GONE : ctx.status,
      error: this.#response?.failure?.error,
      durationMs: performance.now() - this.startedAt,
      requestId: this.requestId,
      client: this.#client,
      refusal: this.#refusal,
      parserError: parserErrorOf(ctx.req.errored),
      request: ctx.req,
    };
  }

  /** Whether there is a response, or will be none: other middleware has ended the request. */
  get #isDecided(): boolean {
    return this.#response !== undefined || this.#hasEnded;
  }

  /** Sends a response, unless one is decided. */
  #decide(response: Response): void {
    if (this.#isDecided) return;
    this.#response = response;
    this.#send(response);
  }

  /** Sends the failure for an error, unless a response is decided. Reports a failure of the service in any case. */
  #fail(cause: unknown): void {
    const response = failureResponse(cause);
    const { failure } = response;
    if (failure.ours) this.#exchanges.report(this.#ctx, failure.error, cause);
    if (!this.#isDecided) this.#refusal = refusalOf(cause);
    this.#decide(response);
  }

  #send(response: Response): void {
    send(this.#ctx, response, this.requestId);
  }
}
