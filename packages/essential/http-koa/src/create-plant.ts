import type { Client, CreatePlant } from '@plant-store/domain';
import type { Context, Middleware } from 'koa';
import { bearerToken } from './bearer-token.js';
import { failures, HttpError } from './failures.js';
import { newPlantReader } from './new-plant-body.js';
import { expectPositiveInteger } from './options.js';
import { respondWithJson } from './respond-with-json.js';

/** What the route calls: the use case, or an object around it. */
export type CreatesPlants = Pick<CreatePlant, 'authorize'>;

export interface CreateLimits {
  /** The maximum size of a body in bytes. 16384 by default. */
  readonly bodyLimit?: number;
  /** How long verifying the token and storing the plant may take together, in milliseconds. 15000 by default. */
  readonly timeLimitMs?: number;
}

/** What a create leaves in `ctx.state`, for your log. */
export interface CreateState {
  /** The client, once its token was verified. */
  client?: Client;
}

/** Creates the plant in the body for the client of the token (docs/specification.md, "Create a plant"). */
export function createPlant(
  useCase: CreatesPlants,
  { bodyLimit = 16_384, timeLimitMs = 15_000 }: CreateLimits,
): Middleware {
  expectPositiveInteger('bodyLimit', bodyLimit);
  expectPositiveInteger('timeLimitMs', timeLimitMs);
  const readNewPlant = newPlantReader(bodyLimit);
  return async function create(ctx) {
    const state: CreateState = ctx.state;
    const startedAt = performance.now();
    // First the token: nothing is read from an unauthenticated caller.
    const creator = await useCase.authorize(bearerToken(ctx.req));
    // A slow verifier leaves the store less time. The time in which the body arrives does not count.
    const leftMs = timeLimitMs - (performance.now() - startedAt);
    state.client = creator.client;
    expectWaitingClient(ctx);
    const plant = await readNewPlant(ctx);
    expectWaitingClient(ctx);
    respondWithJson(ctx, await creator.create(plant, leftMs));
  };
}

/** Nobody would learn that the plant is stored if the client has gone, or if a host has responded. */
function expectWaitingClient({ response }: Context): void {
  if (!response.writable) throw new HttpError(failures.REQUEST_TIMEOUT);
}
