import type { Client, PlantCreator } from '@plant-store/domain';
import type { Context, Middleware } from 'koa';
import { bearerToken } from './bearer-token.js';
import type { CreatesPlants } from './create-app.js';
import { failures, HttpError } from './failures.js';
import { exactNewPlant } from './new-plant-body.js';

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
    const state: CreateState = ctx.state;
    const creator = await useCase.authorize(bearerToken(ctx.req));
    state.client = creator.client;
    state.creator = creator;
    expectWaitingClient(ctx);
    return next();
  };
}

/** Creates the plant of the body (docs/specification.md, "Create a plant"). */
export function createPlant(timeLimitMs: number): Middleware {
  return async function created(ctx) {
    expectWaitingClient(ctx);
    const { creator }: Required<CreateState> = ctx.state;
    ctx.body = await creator.create(exactNewPlant(ctx.request), timeLimitMs);
  };
}

/** Nobody would learn that the plant is stored if the client has gone, or if a host has responded. */
function expectWaitingClient({ writable }: Context): void {
  if (!writable) throw new HttpError(failures.REQUEST_TIMEOUT);
}
