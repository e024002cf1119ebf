import type { Client, CreatePlant } from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from '../request/headers.js';
import type { RequestState } from '../request/observe.js';

/**
 * Refuses a client by rejecting, for example with `new HttpError('TOO_MANY_REQUESTS', undefined, { retryAfter: 30 })`. Any
 * error that `failures` does not list is a bug. It must settle by itself: the deadline of a request limits only the database.
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
