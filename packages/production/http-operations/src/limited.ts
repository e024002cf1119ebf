import type { Client } from '@plant-store/domain';
import { type CreatesPlants, HttpError } from '@plant-store/http-koa';
import { failures } from './operation-failures.js';

/**
 * Refuses a client by rejecting, for example with `new HttpError({ ...failures.TOO_MANY_REQUESTS, retryAfter: 30 })`. Any
 * error that `failures` does not list is a bug. The time limit of a create does not cover this call: limit it yourself.
 */
export type Admit = (client: Client) => void | Promise<void>;

export interface Limits {
  /** Called with the client of each create before its body is read; use it to limit requests per client. None by default. */
  readonly admit?: Admit;
  /** The maximum number of creates in progress, each counted from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
}

/** Surrounds the use case: it refuses clients that `admit` refuses, and creates beyond the limit. */
export function limited(
  useCase: CreatesPlants,
  { admit, maxInFlight = 1000 }: Limits,
): CreatesPlants {
  let inFlight = 0;
  return {
    async authorize(token) {
      const startedAt = performance.now();
      const creator = await useCase.authorize(token);
      // A slow verifier leaves less time to the store.
      const takenMs = performance.now() - startedAt;
      if (admit !== undefined) await admit(creator.client);
      return {
        client: creator.client,
        async create(plant, timeLimitMs) {
          if (inFlight >= maxInFlight) throw new HttpError(failures.OVERLOADED);
          inFlight += 1;
          try {
            return await creator.create(plant, timeLimitMs - takenMs);
          } finally {
            inFlight -= 1;
          }
        },
      };
    },
  };
}
