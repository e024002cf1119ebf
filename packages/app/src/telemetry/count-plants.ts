import {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Metrics, PlantOutcome } from './metrics.js';

/** The same repository, with what becomes of each plant counted, whether or not its client still waits. */
export function countPlants(plants: PlantRepository, metrics: Metrics): PlantRepository {
  return {
    async add(plant, timeLimit) {
      try {
        await plants.add(plant, timeLimit);
        metrics.plantSettled('stored');
      } catch (error) {
        const outcome = outcomeOf(error);
        if (outcome !== undefined) metrics.plantSettled(outcome);
        throw error;
      }
    },
    ready: () => plants.ready(),
    close: () => plants.close(),
  };
}

function outcomeOf(error: unknown): PlantOutcome | undefined {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return undefined;
}
