import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from '../frame/bearer-token.js';
import type { RequestState } from '../frame/respond.js';
import { plantAnswer } from '../frame/response.js';
import { readBody } from './body.js';
import { InFlight } from './in-flight.js';
import { checkMediaType } from './media-type.js';
import { readNewPlant } from './read-new-plant.js';

/** What the operation works with. */
export interface CreatePlantOptions {
  readonly useCase: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Bytes a body may have at most. */
  readonly bodyLimit: number;
  readonly maxInFlight: number;
  /** Milliseconds from the last byte of a request to its answer. */
  readonly requestDeadline: number;
}

/**
 * The operation. It stops at the first check that fails: the credentials before the body is read,
 * overload before it is parsed, and all of them before anything is stored.
 *
 * Source: specification, "Create a plant".
 */
export function createPlant(options: CreatePlantOptions): Middleware<RequestState> {
  const { useCase, tokenVerifier, bodyLimit, requestDeadline } = options;
  const inFlight = new InFlight(options.maxInFlight);

  return async function createPlant(ctx) {
    const client = await tokenVerifier.verify(bearerToken(ctx.req));
    ctx.state.client = client.name;
    checkMediaType(ctx.req);
    const arrivedAt = ctx.req.complete ? ctx.state.startedAt : undefined;
    const body = await readBody(ctx, bodyLimit);
    const deadline = (arrivedAt ?? performance.now()) + requestDeadline;
    const plant = await inFlight.run(() =>
      useCase.execute(client, readNewPlant(body), deadline - performance.now()),
    );
    ctx.state.answer = plantAnswer(plant);
  };
}
