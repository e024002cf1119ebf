import { newPlantParser } from '@plant-store/plant-json';
import { HttpError } from '../request/failures.js';
import type { Step } from '../request/observe.js';

export interface CreateLimits {
  /** How many creates may be in flight, each counted from the last byte of its body. */
  readonly maxInFlight: number;
  /** Milliseconds from the last byte of the body to the response. */
  readonly requestDeadlineMs: number;
}

const parseNewPlant = newPlantParser('the body');

const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
};

/** Creates the plant of `ctx.request.body` (docs/specification.md, "Create a plant"). */
export function createPlant({ maxInFlight, requestDeadlineMs }: CreateLimits): Step {
  let inFlight = 0;
  return async function create({ request, response, state, writable }) {
    const { body } = request as { body?: unknown };
    if (!Buffer.isBuffer(body) || body.length === 0) throw new HttpError('BODY_MISSING');
    // The client already has another response: this failure stops the operation, and only the observer sees it.
    if (!writable) throw new HttpError('REQUEST_TIMEOUT');
    if (inFlight >= maxInFlight) throw new HttpError('OVERLOADED');
    inFlight += 1;
    try {
      const arrivedAt = state.arrivedAt || performance.now();
      const newPlant = parseNewPlant(body);
      const timeLimitMs = arrivedAt + requestDeadlineMs - performance.now();
      const plant = await state.creator.create(newPlant, timeLimitMs);
      response.set(JSON_HEADERS);
      response.body = plant;
    } finally {
      inFlight -= 1;
    }
  };
}
