import { setTimeout as pause } from 'node:timers/promises';

/** The deadline of the service. */
const DEADLINE_MS = 15_000;

/** Returns a store for {@link serve} with a deadline. Every error is "unknown": the plant may be stored. */
export function withDeadline(store) {
  const insert = (plant) => store(plant).catch(() => undefined);
  // The option `timeoutMS` of the driver has no effect in 7.9.
  return (plant) => Promise.race([insert(plant), pause(DEADLINE_MS)]);
}
