import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { PlantIdTakenError } from '@plant-store/domain';
import type { CorrectStore } from '../correct-store.js';

const replacing: Defect<CorrectStore> = ({ database }) => ({
  failure: 'plant 7 in the database: expected name',
  failed(error, plant) {
    if (plant !== undefined) database.keep(plant);
    return error;
  },
});

/** Defects about ids, by the case that catches them. */
export const ids: FaultyAdapters<CorrectStore> = {
  'rejects a plant whose id is taken, even if the two plants are equal': {
    'mistakes the same content for the same create': ({ database }) => ({
      failure: 'plant 7: expected taken, because a plant with the id is stored; got stored',
      attempt: async (plant, mark) =>
        database.rows.get(plant.id)?.plant.name === plant.name || database.insert(plant, mark),
    }),
    'lets a plant that it refuses replace the first one': replacing,
  },
  'stores exactly one of 100 plants that are added concurrently with the same id': {
    'lets a plant that it refuses replace the first one': replacing,
    'lets equal concurrent adds share one call': ({ add, past }) => ({
      failure: 'plant 7: expected that one of 100 adds resolves, got 2',
      add(plant, limit) {
        const equal = [...past.underWay].find(([it]) => isDeepStrictEqual(it, plant));
        return equal?.[1] ?? add(plant, limit);
      },
    }),
  },
  'stores exactly one of two plants with the same id, added through two repositories': {
    'checks ids only against its own concurrent adds': ({ database }, own = new Set<bigint>()) => ({
      failure: 'plant 7: expected that one of 2 adds resolves, got 2',
      async add(plant) {
        const isTaken = own.has(plant.id) || database.rows.has(plant.id);
        own.add(plant.id);
        await setImmediate();
        if (isTaken) throw new PlantIdTakenError('taken');
        database.keep(plant);
      },
    }),
  },
  'reports to each of 100 concurrent callers the outcome of its own plant': {
    'reports one outcome to all concurrent callers': ({ add, past }) => ({
      failure: 'plant 0: expected stored, because its id was free; got taken',
      async add(plant, limit) {
        const adding = add(plant, limit);
        await setImmediate();
        await Promise.all([adding, ...past.underWay.values()]);
      },
    }),
    'acknowledges the 141st concurrent add without a write': ({ database, past }) => ({
      failure: 'plant 10140 was reported as stored. In the database: expected id 10140',
      attempt: async (...add) => past.underWay.size === 140 || database.insert(...add),
    }),
  },
};
