import type { Client, NewPlant, PlantCreator } from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from './bearer-token.js';
import type { CreatesPlants } from './create-app.js';
import { failures, HttpError } from './failures.js';

/** What the steps of a create share, as `ctx.state`. */
export interface CreateState {
  /** The client, once its token was verified. */
  client?: Client;
  /** The same client, if it may create plants. */
  creator?: PlantCreator;
}

/** Refuses clients whose token does not permit creating plants. */
export function authorize(useCase: CreatesPlants): Middleware {
  return async function authorized(ctx, next) {
    const creator = await useCase.authorize(bearerToken(ctx.req));
    Object.assign(ctx.state, { client: creator.client, creator } satisfies CreateState);
    return next();
  };
}

/** Ends a request whose client has gone, or to which a host has responded: nobody would learn that the plant is stored. */
export const ifWanted: Middleware = (ctx, next) => {
  if (ctx.writable) return next();
  throw new HttpError(failures.REQUEST_TIMEOUT);
};

/** Creates the plant of `ctx.request.body` (docs/specification.md, "Create a plant"). */
export function createPlant(timeLimitMs: number): Middleware {
  return async function create(ctx) {
    const { creator }: Required<CreateState> = ctx.state;
    ctx.body = await creator.create(ctx.request.body as NewPlant, timeLimitMs);
  };
}
