import { newPlantParser } from '@plant-store/plant-json';
import type { Middleware } from 'koa';
import { HttpError } from '../request/failures.js';
import type { RequestState } from '../request/observe.js';

export interface CreateLimits {
  /** How many creates may be in flight, each counted from the last byte of its body. */
  readonly maxInFlight: number;
  /** Milliseconds from the last byte of the body to the response. */
  readonly requestDeadlineMs: number;
}

const parseNewPlant = newPlantParser('the body');

/** Creates the plant of `ctx.request.body` (docs/specification.md, "Create a plant"). */
export function createPlant({ maxInFlight, requestDeadlineMs }: CreateLimits): Middleware {
  let inFlight = 0;
  return async function create(ctx) {
    const { body } = ctx.request;
    if (!Buffer.isBuffer(body) || body.length === 0) throw new HttpError('BODY_MISSING');
    // The client already has another response: this failure stops the operation, and only the observer sees it.
    if (!ctx.writable) throw new HttpError('REQUEST_TIMEOUT');
    if (inFlight >= maxInFlight) throw new HttpError('OVERLOADED');
    inFlight += 1;
    try {
      const { creator, arrivedAt }: AuthorizedState = ctx.state;
      const newPlant = parseNewPlant(body);
      const timeLimitMs = arrivedAt + requestDeadlineMs - performance.now();
      ctx.body = await creator.create(newPlant, timeLimitMs);
    } finally {
      inFlight -= 1;
    }
  };
}

type AuthorizedState = Required<Pick<RequestState, 'creator' | 'arrivedAt'>>;
