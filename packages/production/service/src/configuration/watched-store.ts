import type { PlantRepository, StoreUnavailableError } from '@plant-store/domain';
import type { PlantReader } from '@plant-store/plant-reader';
import type { StoreObserver } from '@plant-store/plant-repository-group-commit';
import { sentenceOf } from '../messages/wording.js';

/** A store; plants can be exported from it only if it is a `PlantReader`. */
export type Store = PlantRepository & Partial<PlantReader>;

const CHECK_INTERVAL_MS = 1_000;

/**
 * Returns a store that checks every second whether it is ready, and reports each change, for a store that has no events
 * of its own.
 */
export function watched(plants: Store, observer: StoreObserver): Store {
  let reported: string | undefined;
  let isClosed = false;

  async function check(): Promise<void> {
    const error = await plants.ready().catch((reason: StoreUnavailableError) => reason);
    if (isClosed) return;
    const state = error ? sentenceOf(error) : 'reachable';
    if (state !== reported) {
      observer(error ? { type: 'store unreachable', error } : { type: 'store reachable' });
    }
    reported = state;
    setTimeout(check, CHECK_INTERVAL_MS).unref();
  }

  void check();
  const read = plants.read?.bind(plants);
  return {
    ...(read && { read }),
    add: (plant, timeLimitMs) => plants.add(plant, timeLimitMs),
    ready: () => plants.ready(),
    async close() {
      isClosed = true;
      await plants.close();
    },
  };
}
