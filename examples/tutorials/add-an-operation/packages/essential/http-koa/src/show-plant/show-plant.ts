import { isPlantId, type PlantId, PlantNotFoundError, type ShowPlant } from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from '../request/headers.js';
import type { RequestState } from '../request/observe.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/**
 * Responds with the plant of a route's only parameter.
 *
 * @param requestDeadlineMs Milliseconds from the request to the response.
 */
export function showPlant(useCase: ShowPlant, requestDeadlineMs: number): Middleware {
  return async function show(ctx) {
    const state: RequestState = ctx.state;
    const viewer = await useCase.authorize(bearerToken(ctx.req));
    state.client = viewer.client;
    const id = toPlantId(ctx.captures[0]);
    const timeLimitMs = state.arrivedAt + requestDeadlineMs - performance.now();
    ctx.body = await viewer.show(id, timeLimitMs);
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
