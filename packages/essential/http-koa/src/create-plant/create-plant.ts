import type { OutgoingHttpHeaders } from 'node:http';
import type { Client, CreatePlant, Plant } from '@plant-store/domain';
import { newPlantParser } from '@plant-store/plant-json';
import type { Context, Middleware } from 'koa';
import { HttpError } from '../request/failures.js';
import { bearerToken, jsonHeaders } from '../request/headers.js';
import type { RequestState } from '../request/observe.js';

/**
 * Refuses a client by rejecting, for example with `new HttpError('TOO_MANY_REQUESTS', undefined, { retryAfter: 30 })`. Any
 * error that `failures` does not list is a bug. The request's deadline does not cover this call: limit its time yourself.
 */
export type Admit = (client: Client) => void | Promise<void>;

/** Refuses clients whose token does not permit creating plants, and admits the others before their body is read. */
export function authorize(createPlant: CreatePlant, admit: Admit | undefined): Middleware {
  return async function authorized(ctx, next) {
    const creator = await createPlant.authorize(bearerToken(ctx.req));
    const state: RequestState = ctx.state;
    state.client = creator.client;
    state.creator = creator;
    if (admit) await admit(creator.client);
    return next();
  };
}

export interface CreateLimits {
  readonly maxInFlight: number;
  readonly requestDeadlineMs: number;
}

const parseNewPlant = newPlantParser('the body');

/** Creates the plant of `ctx.request.body` (docs/specification.md, "Create a plant"). */
export function createPlant(
  { maxInFlight, requestDeadlineMs }: CreateLimits,
  respond: RespondWithPlant,
): Middleware {
  let inFlight = 0;
  return async function create(ctx) {
    const { body } = ctx.request;
    if (!Buffer.isBuffer(body) || body.length === 0) throw new HttpError('BODY_MISSING');
    // If a host has responded or the client has gone, the plant must not be stored. Only the observer sees this error.
    if (!ctx.writable) throw new HttpError('REQUEST_TIMEOUT');
    if (inFlight >= maxInFlight) throw new HttpError('OVERLOADED');
    inFlight += 1;
    try {
      const { creator, arrivedAt, requestId }: AuthorizedState = ctx.state;
      const newPlant = parseNewPlant(body);
      const timeLimitMs = arrivedAt + requestDeadlineMs - performance.now();
      const plant = await creator.create(newPlant, timeLimitMs);
      respond(ctx, plant, requestId);
    } finally {
      inFlight -= 1;
    }
  };
}

/** The state that the earlier middleware has filled in. */
type AuthorizedState = Required<Pick<RequestState, 'creator' | 'arrivedAt' | 'requestId'>>;

/** Responds with a stored plant. */
export type RespondWithPlant = (ctx: Context, plant: Plant, requestId: string) => void;

/** Lets Koa respond once all middleware has run. A host's middleware may change the response until then. */
export const respondThroughKoa: RespondWithPlant = (ctx, plant) => {
  ctx.body = plant;
};

/**
 * Responds immediately, so that nothing can replace the response to a stored plant. It bypasses Koa's own response
 * (`ctx.respond` in Koa's API), which takes more CPU time: docs/evidence.md, "What Koa costs".
 */
export const respondImmediately: RespondWithPlant = (ctx, plant, requestId) => {
  // The client has gone, or a host application has responded.
  if (!ctx.writable || ctx.headerSent) return;
  ctx.respond = false;
  const body = JSON.stringify(plant);
  const headers: OutgoingHttpHeaders = jsonHeaders(requestId);
  // Assigned, because a spread copy takes noticeably more CPU time.
  headers['Content-Length'] = Buffer.byteLength(body);
  ctx.res.writeHead(200, headers);
  ctx.res.end(body);
};
