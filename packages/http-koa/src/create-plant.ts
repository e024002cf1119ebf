import type { CreatePlant, NewPlant } from '@plant-store/domain';
import * as v from 'valibot';
import { parseJson } from './exact-json.js';
import { HttpError } from './failures.js';
import { newPlantSchema } from './new-plant-schema.js';
import type { OperationMiddleware } from './operation.js';

/** The last step of the operation: the body becomes a NewPlant, the NewPlant a stored Plant. */
export function createPlant(useCase: CreatePlant): OperationMiddleware {
  return async function createPlant(ctx) {
    const { body, client, deadline } = ctx.state;
    const plant = toNewPlant(body);
    ctx.body = await useCase.execute(client, plant, deadline - performance.now());
    ctx.set('Cache-Control', 'no-store');
  };
}

function toNewPlant(body: Buffer): NewPlant {
  const result = v.safeParse(newPlantSchema, parseJson(body));
  if (result.success) return result.output;
  throw new HttpError('INVALID_NEW_PLANT', result.issues.map(({ message }) => message).join('; '));
}
