import type { Client, TokenVerifier } from '@plant-store/domain';
import type { Context, Middleware } from 'koa';
import { HttpError } from './failures.js';
import { bearerToken, countedMethod, requestIdOf } from './headers.js';
import {
  type AccessRefusal,
  type HttpObserver,
  parserErrorOf,
  refusalOf,
} from './http-observer.js';
import { failureResponse, type Response } from './response.js';
import { hasResponded, send } from './send.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** Handles one method of a path. Rejects with an error that `failures` lists; any other error is a bug. */
export type Operation = (exchange: Exchange) => Response | Promise<Response>;

/** The state that all requests to the routes of one application share. */
export class Exchanges {
  readonly maxInFlight: number;
  inFlight = 0;
  readonly #observer: HttpObserver;

  constructor(observer: HttpObserver, maxInFlight: number) {
    this.#observer = observer;
    this.maxInFlight = maxInFlight;
  }

  /** Creates the middleware that responds to a request with an operation, and reports its beginning and its end. */
  readonly respond =
    (operation: Operation): Middleware =>
    async (ctx) => {
      const exchange = new Exchange(ctx, this);
      this.#observer.begun();
      const response = await this.#responseTo(exchange, operation);
      send(ctx, response, exchange.requestId);
      this.#observer.ended({
        method: countedMethod(ctx.req.method),
        route: ctx._matchedRoute,
        status: !hasResponded(ctx.res) && !ctx.writable ? CLIENT_GONE : ctx.status,
        error: response.failure?.error,
        durationMs: performance.now() - exchange.startedAt,
        requestId: exchange.requestId,
        client: exchange.client?.name,
        refusal: exchange.refusal,
        parserError: exchange.parserError,
        request: ctx.req,
      });
    };

  async #responseTo(exchange: Exchange, operation: Operation): Promise<Response> {
    try {
      return await operation(exchange);
    } catch (cause) {
      exchange.refusal = refusalOf(cause);
      exchange.parserError = parserErrorOf(cause);
      const response = failureResponse(cause);
      if (response.failure.ours) this.#report(exchange, response.failure.error, cause);
      return response;
    }
  }

  /** Reports a failure of the service to the observer, and to the application's listeners. */
  #report({ ctx, requestId }: Exchange, error: number, cause: unknown): void {
    this.#observer.failed({ requestId, error, cause });
    const { app } = ctx;
    // Koa's default listener would print the failure a second time.
    const listens = app.listeners('error').some((listener) => listener !== app.onerror);
    if (listens) app.emit('error', cause instanceof Error ? cause : new Error(`${cause}`), ctx);
  }
}

/** One request to the routes, until its response. */
export class Exchange {
  readonly ctx: Context;
  readonly requestId: string;
  /** When the request began, in milliseconds since the process started (`performance.now()`). */
  readonly startedAt = performance.now();
  /** The client whose token was verified; `undefined` before. */
  client: Client | undefined;
  /** Why the token was refused; `undefined` if it was not. */
  refusal: AccessRefusal | undefined;
  /** The code of the parser's error, if there was one. */
  parserError: string | undefined;
  readonly #exchanges: Exchanges;

  constructor(ctx: Context, exchanges: Exchanges) {
    this.ctx = ctx;
    this.requestId = requestIdOf(ctx.req);
    this.#exchanges = exchanges;
  }

  /** Resolves with the client whose token the request carries. Rejects with an `HttpError`, or as `verify` does. */
  async authenticate(verifier: TokenVerifier): Promise<Client> {
    this.client = await verifier.verify(bearerToken(this.ctx.req));
    return this.client;
  }

  /** Runs work that may store a plant, unless too much is in flight, or other middleware has already responded. */
  async carryOut(work: () => Promise<Response>): Promise<Response> {
    const exchanges = this.#exchanges;
    // The client already has another response: this error only stops the operation.
    if (hasResponded(this.ctx.res)) throw new HttpError('REQUEST_TIMEOUT');
    if (exchanges.inFlight >= exchanges.maxInFlight) throw new HttpError('OVERLOADED');
    exchanges.inFlight += 1;
    try {
      return await work();
    } finally {
      exchanges.inFlight -= 1;
    }
  }
}
