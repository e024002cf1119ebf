import type { Client, TokenVerifier } from '@plant-store/domain';
import type { Context, Middleware } from 'koa';
import { HttpError } from './failures.js';
import { bearerToken, countedMethod, requestIdOf } from './headers.js';
import {
  accessRefusalOf,
  type EndedExchange,
  type HttpObserver,
  parserErrorOf,
  type ServiceFailure,
} from './http-observer.js';
import { failureResponse, type Response } from './response.js';
import { hasResponded, send } from './send.js';

/** The status in metrics of a request whose client closed the connection before the response. */
const CLIENT_GONE = 499;

/** Handles one method of a path. Rejects with an error that `failures` lists; any other error is a bug. */
export type Operation = (exchange: Exchange) => Response | Promise<Response>;

/** Turns an operation into middleware. */
export type Respond = (operation: Operation) => Middleware;

/** Counts the operations in flight, and refuses further ones above a maximum. */
class InFlight {
  #count = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  async run(work: () => Promise<Response>): Promise<Response> {
    if (this.#count >= this.#max) throw new HttpError('OVERLOADED');
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
    }
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
  readonly #inFlight: InFlight;

  constructor(ctx: Context, inFlight: InFlight) {
    this.ctx = ctx;
    this.requestId = requestIdOf(ctx.req);
    this.#inFlight = inFlight;
  }

  /** Resolves with the client whose token the request carries. Rejects with an `HttpError`, or as `verify` does. */
  async authenticate(verifier: TokenVerifier): Promise<Client> {
    this.client = await verifier.verify(bearerToken(this.ctx.req));
    return this.client;
  }

  /** Runs work that may store a plant, unless too much is in flight, or a host application has already responded. */
  async carryOut(work: () => Promise<Response>): Promise<Response> {
    // The client already has another response: this failure stops the operation, and only the observer sees it.
    if (hasResponded(this.ctx.res)) throw new HttpError('REQUEST_TIMEOUT');
    return this.#inFlight.run(work);
  }
}

/**
 * Returns a function that creates middleware, which responds to each request with an operation, and reports its beginning
 * and its end. All middleware of one function shares the limit of what is in flight.
 */
export function createRespond(observer: HttpObserver, maxInFlight: number): Respond {
  const inFlight = new InFlight(maxInFlight);
  return (operation) =>
    async function respond(ctx) {
      const exchange = new Exchange(ctx, inFlight);
      const { requestId, startedAt } = exchange;
      observer.begun();
      let response: Response;
      let refusal: EndedExchange['refusal'];
      let parserError: EndedExchange['parserError'];
      try {
        response = await operation(exchange);
      } catch (cause) {
        const failed = failureResponse(cause);
        const { ours, error } = failed.failure;
        if (ours) report({ requestId, error, cause }, ctx, observer);
        refusal = accessRefusalOf(cause);
        parserError = parserErrorOf(cause);
        response = failed;
      }
      send(ctx, response, requestId);
      observer.ended({
        method: countedMethod(ctx.req.method),
        route: ctx._matchedRoute,
        // The status of the response that a host application has sent instead, or that Koa is about to send.
        status: !hasResponded(ctx.res) && !ctx.writable ? CLIENT_GONE : ctx.status,
        error: response.failure?.error,
        durationMs: performance.now() - startedAt,
        requestId,
        client: exchange.client?.name,
        refusal,
        parserError,
        request: ctx.req,
      });
    };
}

/** Reports a failure of the service to the observer, and to the application's listeners. */
function report(failure: ServiceFailure, ctx: Context, observer: HttpObserver): void {
  observer.failed(failure);
  const { cause } = failure;
  const { app } = ctx;
  // Koa's default listener would print the failure a second time.
  const listens = app.listeners('error').some((listener) => listener !== app.onerror);
  if (listens) app.emit('error', cause instanceof Error ? cause : new Error(`${cause}`), ctx);
}
