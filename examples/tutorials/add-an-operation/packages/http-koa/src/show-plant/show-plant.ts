import type { RouterContext } from '@koa/router';
import { isPlantId, type PlantId, PlantNotFoundError, type ShowPlant } from '@plant-store/domain';
import type { Middleware } from 'koa';
import { bearerToken } from '../request/headers.js';
import type { RequestState } from '../request/observe.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** Shows the plant whose id is in the path. The token is verified first. */
export function showPlant(useCase: ShowPlant, requestDeadlineMs: number): Middleware {
  return async function show(ctx) {
    const viewer = await useCase.authorize(bearerToken(ctx.req));
    const state: RequestState = ctx.state;
    state.viewer = viewer;
    const { captures } = ctx as Partial<RouterContext>;
    const id = toPlantId(captures?.[0] ?? '');
    const timeLimitMs = state.arrivedAt + requestDeadlineMs - performance.now();
    const plant = await viewer.show(id, timeLimitMs);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = plant;
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
