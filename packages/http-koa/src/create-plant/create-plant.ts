import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import { newPlantReader } from '@plant-store/plant-json';
import type { Operation } from '../request/exchange.js';
import { plantResponse } from '../request/response.js';
import { BodyReader } from './body.js';

/** The use case, the verifier and the limits of the operation. */
export interface CreatePlantOptions {
  readonly useCase: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  /** The most milliseconds from the last byte of a request to its response. */
  readonly requestDeadlineMs: number;
}

const readNewPlant = newPlantReader('the body');

/**
 * Creates the operation `POST /plants`. It stops at the first check that fails. It checks the credentials before it
 * reads the body, the load before it parses the body, and everything before it stores the plant.
 *
 * Source: docs/specification.md, "Create a plant".
 */
export function createPlantOperation(options: CreatePlantOptions): Operation {
  const { useCase, tokenVerifier, requestDeadlineMs } = options;
  const bodies = new BodyReader(options.bodyLimit);

  return async function createPlantOperation(ctx) {
    const exchange = ctx.plantStore;
    const client = await exchange.authenticate(tokenVerifier);
    const hasArrived = ctx.req.complete;
    const body = await bodies.read(ctx);
    const arrivedAt = hasArrived ? exchange.startedAt : performance.now();
    return exchange.carryOut(async () => {
      const newPlant = readNewPlant(body);
      const timeLimitMs = arrivedAt + requestDeadlineMs - performance.now();
      return plantResponse(await useCase.execute(client, newPlant, timeLimitMs));
    });
  };
}
