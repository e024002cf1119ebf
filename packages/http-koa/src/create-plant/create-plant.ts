import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import { newPlantReader } from '@plant-store/plant-json';
import type { Middleware } from 'koa';
import { bearerToken } from '../frame/bearer-token.js';
import type { InFlight } from '../frame/in-flight.js';
import type { PlantStoreState } from '../frame/request-state.js';
import { plantResponse } from '../frame/response.js';
import { BodyReader } from './body.js';
import { checkMediaType } from './media-type.js';

/** The use case, the verifier and the limits of the operation. */
export interface CreatePlantOptions {
  readonly useCase: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  readonly inFlight: InFlight;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  /** The most milliseconds from the last byte of a request to its response. */
  readonly requestDeadline: number;
}

const readNewPlant = newPlantReader('the body');

/**
 * Creates the middleware of the operation. It stops at the first check that fails. It checks the credentials before it
 * reads the body, the load before it parses the body, and everything before it stores the plant.
 *
 * Source: docs/specification.md, "Create a plant".
 */
export function createPlant(options: CreatePlantOptions): Middleware<PlantStoreState> {
  const { useCase, tokenVerifier, inFlight, requestDeadline } = options;
  const bodies = new BodyReader(options.bodyLimit);

  return async function createPlant(ctx) {
    const state = ctx.state.plantStore;
    const client = await tokenVerifier.verify(bearerToken(ctx.req));
    state.client = client.name;
    checkMediaType(ctx.req);
    const hasArrived = ctx.req.complete;
    const body = hasArrived ? bodies.take(ctx) : await bodies.receive(ctx);
    const deadline = (hasArrived ? state.startedAt : performance.now()) + requestDeadline;
    inFlight.enter();
    try {
      const timeLimit = deadline - performance.now();
      const plant = await useCase.execute(client, readNewPlant(body), timeLimit);
      state.response = plantResponse(plant);
    } finally {
      inFlight.leave();
    }
  };
}
