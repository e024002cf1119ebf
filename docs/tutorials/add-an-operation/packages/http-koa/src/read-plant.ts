import type { RouterContext } from '@koa/router';
import { isPlantId, type PlantId, PlantNotFoundError, type ReadPlant } from '@plant-store/domain';
import type { OperationMiddleware } from './operation.js';

/** One way to write each id, so that a plant has one address. */
const DIGITS = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** The last step of reading: the path becomes an id, the id a Plant. */
export function readPlant(useCase: ReadPlant): OperationMiddleware {
  return async function readPlant(ctx) {
    const { params } = ctx as unknown as Pick<RouterContext, 'params'>;
    ctx.body = await useCase.execute(ctx.state.client, toPlantId(params.id ?? ''));
    ctx.set('Cache-Control', 'no-store');
  };
}

function toPlantId(segment: string): PlantId {
  const id = DIGITS.test(segment) ? BigInt(segment) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new PlantNotFoundError('this is not an id');
}
