import {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Metrics, PlantOutcome } from './metrics.js';

/**
 * The same repository, with what becomes of each plant counted, whether or not its client still waits.
 * Everything but `add` is the repository's own, also what other ports it implements.
 */
export function countPlants<Plants extends PlantRepository>(
  plants: Plants,
  metrics: Metrics,
): Plants {
  const add: PlantRepository['add'] = async (plant, timeLimit) => {
    try {
      await plants.add(plant, timeLimit);
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
