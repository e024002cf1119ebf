import { newPlant } from '@plant-store/domain';
import type { GroupCommitOptions } from '../../src/group-commit.js';
import type { PlantStorage } from '../../src/plant-storage.js';

/** The limits of the MongoDB store. */
export const LIMITS = { ordinary: 20, again: 20, stragglers: 60 };

/** Plants are sent at once. */
export const AVAILABLE: GroupCommitOptions['availability'] = {
  rejection: undefined,
  problem: undefined,
  wasReached: true,
  ready: async () => undefined,
  lost: new AbortController().signal,
};

let marks = 0;

/** Returns a storage with these methods. All others succeed at once, and the storage is empty. */
export function storageWith(methods: Partial<PlantStorage> = {}): PlantStorage {
  return {
    place: 'the database at db.example:1',
    limits: LIMITS,
    newMark() {
      marks += 1;
      return `mark ${marks}`;
    },
    async insert(batch) {
      batch.take();
      return { outcomes: 'stored' };
    },
    committedMarks: async () => new Map(),
    page: async () => [],
    check: async () => undefined,
    explain: (error) => ({ finding: 'no server', cause: error as Error }),
    close: async () => undefined,
    ...methods,
  };
}

/** A plant with this id, for tests that look at nothing else. */
export const plant = (id: bigint, name = `plant ${id}`) => newPlant({ id, name });
