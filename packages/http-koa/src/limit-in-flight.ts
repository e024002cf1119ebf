import { HttpError } from './failures.js';
import type { OperationMiddleware } from './operation.js';

/** Refuses an operation while `max` others are being worked on, before its body is parsed. */
export function limitInFlight(max: number): OperationMiddleware {
  let inFlight = 0;
  return async function limitInFlight(_, next) {
    if (inFlight >= max) throw new HttpError('OVERLOADED');
    inFlight += 1;
    try {
      await next();
    } finally {
      inFlight -= 1;
    }
  };
}
