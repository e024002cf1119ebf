import type { Client } from '@plant-store/domain';
import { type CreatesPlants, expectPositiveInteger, HttpError } from '@plant-store/http-koa';
import { failures } from './operation-failures.js';

/**
 * Refuses a client by rejecting, for example with `new HttpError({ ...failures.TOO_MANY_REQUESTS, retryAfter: 30 })`. Any
 * error that `failures` does not list is a bug. The time it takes counts towards the time limit of the create.
 */
export type Admit = (client: Client) => void | Promise<void>;

export interface Limits {
  /** Called with the client of each create before its body is read; use it to limit requests per client. None by default. */
  readonly admit?: Admit;
  /** The maximum number of creates in progress, each counted from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
}

/**
 * Surrounds the use case: it refuses clients that `admit` refuses, and creates beyond the limit.
 *
 * @throws {RangeError} if the limit is invalid.
 */
export function limited(
  useCase: CreatesPlants,
  { admit, maxInFlight = 1000 }: Limits,
): CreatesPlants {
  expectPositiveInteger('maxInFlight', maxInFlight);
  let inFlight = 0;
  return {
    async authorize(token) {
      const creator = await useCase.authorize(token);
      if (admit !== undefined) await admit(creator.client);
      return {
        client: creator.client,
        async create(plant, timeLimitMs) {
          if (inFlight >= maxInFlight) throw new HttpError(failures.OVERLOADED);
          inFlight += 1;
          try {
            return await creator.create(plant, timeLimitMs);
          } finally {
            inFlight -= 1;
          }
        },
      };
    },
  };
}
