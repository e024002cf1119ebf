import { rejects } from 'node:assert/strict';
import { settled } from '@plant-store/contract-suite';
import { MAX_PLANT_ID, type NewPlantFields, PlantIdTakenError } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import {
  AFTER,
  add,
  BEFORE,
  has,
  isTrue,
  isUnavailable,
  type Outcome,
  outcomeOf,
  plantOf,
  plants,
  promise,
  readyAgain,
  SHORT_LIMIT_MS,
  untilStored,
} from './steps.js';

/** The plant that is added during a fault. */
const PLANT = plantOf(2n);

/**
 * Long enough to try again after a fault, and short enough to wait for. Longer than the shortest time after which a
 * server gives up waiting for a lock: 1 second with InnoDB.
 */
const RETRY_LIMIT_MS = 1_499.73;

/** Long enough to be stored. A driver may need seconds more to close a connection that does not respond. */
const LAST_CALL_LIMIT_MS = 499.73;

/** What is left of a limit just before its end. Rounded, it is 0, which many drivers take for no limit. */
const LAST_MOMENTS_MS = [0.97, 0.27] as const;

/** Long enough to find that an id is taken, and too short to try again after a server was killed and started. */
const RACE_LIMIT_MS = 299.73;

/** Pairs of ids of which a double has only one. The plant of the first is stored before the other. */
const NEIGHBOURS = [
  [2n ** 53n, 2n ** 53n + 1n],
  [-(2n ** 53n) - 1n, -(2n ** 53n)],
  [MAX_PLANT_ID, MAX_PLANT_ID - 1n],
] as const;

/** Promises about outcomes: each is true, whatever the storage loses. */
export const outcomes = [
  promise(
    'rejects an add with a time limit of 0 or less as unavailable, and stores nothing',
    [],
    async (store) => {
      for (const limit of [0, -0.5]) await isUnavailable(add(store, PLANT, limit));
      expect(await store.stored(PLANT.id)).to.equal(undefined);
    },
  ),
  ...(
    [
      ['stall', 'the storage does not respond'],
      ['silenceAfterWrite', 'the storage stops responding after the write'],
      ['outage', 'the storage cannot be reached'],
    ] as const
  ).map(([fault, when]) =>
    promise(
      `settles in time, and never reports a stored plant as unavailable, when ${when}`,
      [fault, 'recover'],
      async (store) => {
        await add(store, BEFORE);
        await store[fault]();
        const outcome = await settled(outcomeOf(add(store, PLANT, SHORT_LIMIT_MS)));
        await store.recover();
        await isTrue(store, outcome, PLANT);
      },
    ),
  ),
  ...(
    [
      ['outage', 'the storage cannot be reached'],
      ['refuseAccess', 'the storage refuses access'],
    ] as const
  ).map(([fault, then]) =>
    promise(
      `never reports a stored plant as unavailable when its acknowledgement is lost, and then ${then}`,
      ['silenceAfterWrite', fault, 'recover'],
      async (store) => {
        await add(store, BEFORE);
        await store.silenceAfterWrite();
        const adding = outcomeOf(add(store, PLANT, RETRY_LIMIT_MS));
        await Promise.race([adding, untilStored(store, PLANT.id)]);
        await store[fault]();
        const outcome = await settled(adding);
        await store.recover();
        await isTrue(store, outcome, PLANT);
      },
    ),
  ),
  promise(
    'never reports a stored plant as unavailable when its acknowledgement is lost, and then the repository is closed',
    ['silenceAfterWrite'],
    async (store) => {
      await add(store, BEFORE);
      await store.silenceAfterWrite();
      const adding = outcomeOf(add(store, PLANT, LAST_CALL_LIMIT_MS));
      await Promise.race([adding, untilStored(store, PLANT.id)]);
      await settled(store.repository.close());
      const outcome = await settled(adding);
      expect(outcome, 'the outcome of a free id').not.to.equal('taken');
      if (outcome === 'unknown') return;
      const kept = outcome === 'stored' ? PLANT : undefined;
      expect(await store.stored(PLANT.id), outcome).to.deep.equal(kept);
    },
  ),
  ...LAST_MOMENTS_MS.map((limit) =>
    promise(
      `settles in time with a time limit of ${limit} ms, when the storage does not respond`,
      ['stall', 'recover'],
      async (store) => {
        await add(store, BEFORE);
        await store.stall();
        const outcome = await settled(outcomeOf(add(store, PLANT, limit)));
        await store.recover();
        await isTrue(store, outcome, PLANT);
      },
    ),
  ),
  promise(
    'reports a plant as stored, or as unknown, when its acknowledgement is lost',
    ['loseNextAcknowledgement'],
    async (store) => {
      await add(store, BEFORE);
      await store.loseNextAcknowledgement();
      await isTrue(store, await outcomeOf(add(store, PLANT)), PLANT);
    },
  ),
  ...NEIGHBOURS.map(([first, other]) =>
    promise(
      `does not mistake plant ${first} for a neighbour whose acknowledgement is lost`,
      ['loseNextAcknowledgement'],
      async (store) => {
        await add(store, plantOf(first));
        await store.loseNextAcknowledgement();
        const outcome = await outcomeOf(add(store, plantOf(other)));
        expect(outcome).to.be.oneOf(['stored', 'unknown']);
      },
    ),
  ),
  promise(
    'does not mistake the plant of another call for its own, even when the content is the same',
    ['loseNextAcknowledgement'],
    async (store) => {
      await add(store, PLANT);
      await store.loseNextAcknowledgement();
      expect(await outcomeOf(add(store, PLANT))).not.to.equal('stored');
      await has(store, [PLANT]);
    },
  ),
  promise(
    'does not report an id as taken by a plant that is rolled back',
    ['holdUncommitted', 'recover'],
    async (store) => {
      await add(store, BEFORE);
      await store.holdUncommitted({ ...PLANT, name: 'never committed' });
      const outcome = await settled(outcomeOf(add(store, PLANT, RETRY_LIMIT_MS)));
      await store.recover();
      await isTrue(store, outcome, PLANT);
    },
  ),
  promise(
    'reports a true outcome to each of 100 concurrent callers while the storage does not respond',
    ['stall', 'recover'],
    async (store) => {
      await store.stall();
      const reported = await Promise.all(
        plants(100).map((plant) => settled(outcomeOf(add(store, plant, SHORT_LIMIT_MS)))),
      );
      await store.recover();
      await readyAgain(store.repository);
      await Promise.all(plants(100).map(({ id }) => add(store, plantOf(id + 100n))));
      await store.repository.close();
      for (const [index, { id }] of plants(100).entries()) {
        if (reported[index] !== 'unavailable') continue;
        expect(await store.stored(id), `plant ${id}`).to.equal(undefined);
      }
    },
  ),
  promise('keeps every acknowledged plant when the storage is killed', ['crash'], async (store) => {
    await Promise.all(plants(20).map((plant) => add(store, plant)));
    await store.crash();
    await hasAfterRestart(store, plants(20));
  }),
  promise(
    'keeps a plant that it finds when it tries again, when the storage is killed',
    ['loseNextAcknowledgement', 'crash'],
    async (store) => {
      await add(store, BEFORE);
      await store.loseNextAcknowledgement();
      const outcome = await outcomeOf(add(store, PLANT));
      await store.crash();
      await hasAfterRestart(store, outcome === 'stored' ? [PLANT] : []);
    },
  ),
  promise(
    'keeps the plant of an id that it has reported as taken, when the storage is killed',
    ['crash'],
    async (store) => {
      const other = await store.reopen();
      const repositories = [store.repository, other];
      const calls = plants(20).flatMap((plant) =>
        repositories.map(async (repository) => ({
          plant,
          outcome: await outcomeOf(add({ repository }, plant, RACE_LIMIT_MS)),
        })),
      );
      await firstTaken(calls);
      await store.crash();
      const reported = await Promise.all(calls).finally(() => other.close());
      const kept = reported.filter(({ outcome }) => outcome === 'stored' || outcome === 'taken');
      await hasAfterRestart(
        store,
        kept.map(({ plant }) => plant),
      );
    },
  ),
  promise(
    'keeps every plant that it acknowledges while the storage is configured to lose it',
    ['relaxDurability', 'crash', 'recover'],
    async (store) => {
      await add(store, AFTER);
      await store.relaxDurability();
      const outcomes = await Promise.all(
        plants(20).map((plant) => settled(outcomeOf(add(store, plant, RETRY_LIMIT_MS)))),
      );
      await store.crash();
      await store.recover();
      await hasAfterRestart(
        store,
        plants(20).filter((_, index) => outcomes[index] === 'stored'),
      );
    },
  ),
  promise(
    'keeps the plant of another client whose id it has reported as taken, when the storage is killed',
    ['commitUnflushed', 'crash'],
    async (store) => {
      await add(store, BEFORE);
      await store.commitUnflushed(PLANT);
      const outcome = await settled(
        outcomeOf(add(store, { ...PLANT, name: 'late' }, RETRY_LIMIT_MS)),
      );
      expect(outcome, 'the outcome of an id that is not free').not.to.equal('stored');
      await store.crash();
      await hasAfterRestart(store, outcome === 'taken' ? [PLANT] : []);
    },
  ),
];

/** Resolves as soon as one of the calls has found its id taken, or when all have ended. */
async function firstTaken(calls: readonly Promise<{ outcome: Outcome }>[]): Promise<void> {
  const taken = calls.map(async (call) => {
    if ((await call).outcome !== 'taken') throw new Error('the id was free');
  });
  await Promise.any(taken).catch(() => undefined);
}

/** Resolves when the storage has the plants after it was killed, and another repository knows their ids. */
async function hasAfterRestart(store: OpenStore, kept: readonly NewPlantFields[]) {
  const repository = await store.reopen();
  try {
    await readyAgain(repository);
    for (const plant of kept) await rejects(add({ repository }, plant), PlantIdTakenError);
  } finally {
    await repository.close();
  }
  await has(store, kept);
}
