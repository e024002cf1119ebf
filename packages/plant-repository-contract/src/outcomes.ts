import { rejects } from 'node:assert/strict';
import { type NewPlantFields, PlantIdTakenError } from '@plant-store/domain';
import { expect } from 'chai';
import {
  add,
  type ContractCase,
  causeFault,
  isRejected,
  type Outcome,
  outcomeOf,
  readyAgain,
  SHORT_LIMIT_MS,
  settled,
} from './contract-case.js';
import type { OpenStore, StorageHook } from './open-store.js';

const PLANT = { id: 2n, name: 'during', tag: 'the fault' };

/**
 * Compares an outcome with what is stored, twice: when the storage can be used again, and when nothing is under way
 * any more. The latter is after another plant was acknowledged and the repository was closed.
 */
async function expectTrue(store: OpenStore, outcome: Outcome, plant: NewPlantFields) {
  await readyAgain(store.repository);
  const soon = await store.stored(plant.id);
  await add(store, { id: 1_000n, name: 'after' });
  await store.repository.close();
  const later = await store.stored(plant.id);
  if (outcome === 'unavailable') {
    expect([soon, later], 'unavailable, and kept').to.deep.equal([undefined, undefined]);
  } else if (outcome === 'stored' || later !== undefined) {
    expect(later, `${outcome}, and kept otherwise`).to.deep.equal(plant);
  }
}

function reportsTruth(fault: StorageHook, when: string): ContractCase {
  return {
    title: `never reports a stored plant as unavailable when ${when}`,
    needs: [fault, 'recover'],
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await causeFault(store, fault);
      const outcome = await outcomeOf(settled(add(store, PLANT, SHORT_LIMIT_MS)));
      await causeFault(store, 'recover');
      await expectTrue(store, outcome, PLANT);
    },
  };
}

/** Cases about outcomes: each is true, whatever the storage loses. */
export const outcomes: readonly ContractCase[] = [
  reportsTruth('silenceAfterWrite', 'the storage stops responding after the write'),
  reportsTruth('stall', 'the storage does not respond'),
  reportsTruth('outage', 'the storage cannot be reached'),
  {
    title: 'reports a plant as stored, or as unknown, when its acknowledgement is lost',
    needs: ['loseNextAcknowledgement'],
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await causeFault(store, 'loseNextAcknowledgement');
      await expectTrue(store, await outcomeOf(add(store, PLANT)), PLANT);
    },
  },
  {
    title:
      'does not mistake the plant of another call for its own, even when the content is the same',
    needs: ['loseNextAcknowledgement'],
    async run(store) {
      await add(store, PLANT);
      await causeFault(store, 'loseNextAcknowledgement');
      await isRejected(add(store, PLANT));
      await readyAgain(store.repository);
      await rejects(add(store, { ...PLANT, name: 'another' }), PlantIdTakenError);
      expect(await store.stored(PLANT.id)).to.deep.equal(PLANT);
    },
  },
  {
    title:
      'reports a true outcome to each of 100 concurrent callers while the storage does not respond',
    needs: ['stall', 'recover'],
    async run(store) {
      const plants = Array.from({ length: 100 }, (_, index) => ({
        id: BigInt(index),
        name: `plant ${index}`,
      }));
      await causeFault(store, 'stall');
      const adding = plants.map((plant) => outcomeOf(settled(add(store, plant, SHORT_LIMIT_MS))));
      const reported = await Promise.all(adding);
      await causeFault(store, 'recover');
      await readyAgain(store.repository);
      await Promise.all(plants.map(({ id, name }) => add(store, { id: id + 100n, name })));
      await store.repository.close();
      for (const [index, { id }] of plants.entries()) {
        if (reported[index] !== 'unavailable') continue;
        expect(await store.stored(id), `plant ${id}`).to.equal(undefined);
      }
    },
  },
  {
    title: 'keeps every acknowledged plant when the storage is killed',
    needs: ['crash'],
    async run(store) {
      const ids = Array.from({ length: 20 }, (_, index) => BigInt(index));
      await Promise.all(ids.map((id) => add(store, { id, name: `plant ${id}` })));
      await causeFault(store, 'crash');
      const repository = await store.reopen();
      await readyAgain(repository);
      await rejects(add({ repository }, { id: 7n, name: 'late' }), PlantIdTakenError).finally(() =>
        repository.close(),
      );
      for (const id of ids) expect((await store.stored(id))?.name).to.equal(`plant ${id}`);
    },
  },
];
