import type { RouterContext } from '@koa/router';
import {
  isPlantId,
  type PlantId,
  PlantNotFoundError,
  type ShowPlant,
  type TokenVerifier,
} from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from '../frame/bearer-token.js';
import type { PlantStoreState } from '../frame/request-state.js';
import { plantResponse } from '../frame/response.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** The operation `GET /plants/{id}`. The token is verified first. */
export function showPlant(
  useCase: ShowPlant,
  tokenVerifier: TokenVerifier,
): Middleware<PlantStoreState> {
  return async function showPlant(ctx) {
    const state = ctx.state.plantStore;
    const client = await tokenVerifier.verify(bearerToken(ctx.req));
    state.client = client.name;
    const { captures } = ctx as Pick<RouterContext, 'captures'>;
    const plant = await useCase.execute(client, toPlantId(captures?.[0] ?? ''));
    state.response = plantResponse(plant);
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
