import {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Metrics, PlantOutcome } from './metrics.js';

/**
 * Returns the same repository, with an `add` that counts the outcome of each plant, whether or not its client still
 * waits. All other methods are those of the repository, also of other ports that it implements.
 */
export function countPlants<Plants extends PlantRepository>(
  plants: Plants,
  metrics: Metrics,
): Plants {
  const add: PlantRepository['add'] = async (plant, timeLimitMs) => {
    try {
      await plants.add(plant, timeLimitMs);
      metrics.plantSettled('stored');
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome !== undefined) metrics.plantSettled(outcome);
      throw error;
    }
  };
  return new Proxy(plants, {
    get(target, name) {
      if (name === 'add') return add;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function outcomeOf(error: unknown): PlantOutcome | undefined {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return undefined;
}
