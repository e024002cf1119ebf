import type { RouterContext } from '@koa/router';
import {
  isPlantId,
  type PlantId,
  PlantNotFoundError,
  type ShowPlant,
  type TokenVerifier,
} from '@plant-store/domain';
import { bearerToken } from '../frame/header-fields.js';
import type { InFlight } from '../frame/in-flight.js';
import type { Handler } from '../frame/respond.js';
import { plantResponse } from '../frame/response.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** The use case, the verifier and the limit of the operation. */
export interface ShowPlantOptions {
  readonly useCase: ShowPlant;
  readonly tokenVerifier: TokenVerifier;
  readonly inFlight: InFlight;
  /** The most milliseconds from the request to its response. */
  readonly requestDeadlineMs: number;
}

/** The operation `GET /plants/{id}`. The token is verified first. */
export function showPlant(options: ShowPlantOptions): Handler {
  const { useCase, tokenVerifier, inFlight, requestDeadlineMs } = options;
  return async function showPlant(ctx) {
    const state = ctx.plantStore;
    const client = await tokenVerifier.verify(bearerToken(ctx.req));
    state.client = client.name;
    const { captures } = ctx as Pick<RouterContext, 'captures'>;
    const id = toPlantId(captures?.[0] ?? '');
    const timeLimitMs = state.startedAt + requestDeadlineMs - performance.now();
    inFlight.begin();
    try {
      state.response = plantResponse(await useCase.execute(client, id, timeLimitMs));
    } finally {
      inFlight.end();
    }
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
