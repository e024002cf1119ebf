import { rejects } from 'node:assert/strict';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** A new, empty store: the repository under test, and a look at what it has kept. */
export interface OpenStore {
  readonly repository: PlantRepository;
  /** The plant as it is kept, read past the repository; `undefined` when there is none. */
  stored(id: bigint): Promise<NewPlantFields | undefined>;
  /** Another repository on what this one keeps, as after a crash: this one was not closed. */
  reopen(): Promise<PlantRepository>;
  /** From now on the storage answers nothing. Needed unless the suite is told that no test can do that. */
  stall?(): void;
}

/** One promise of the port. `run` rejects when the store breaks it. */
export interface ContractCase {
  readonly title: string;
  /** Whether it needs {@link OpenStore.stall}. */
  readonly stalls?: true;
  run(store: OpenStore): Promise<void>;
}

const TIME_LIMIT_MS = 10_000;
const BRIEF_MS = 100;
/** When a call that should have been settled after `BRIEF_MS` is taken for one that never is. */
const PATIENCE_MS = 3_000;
/** A timer of Node may fire this much early. */
const TIMER_PRECISION_MS = 1;

const STRINGS = {
  'the empty string': '',
  'leading and trailing space': ' \t Monstera \n ',
  'U+0000': 'a\u0000b',
  'every control character': String.fromCharCode(...Array(32).keys(), 127, 133),
  'characters beyond the basic plane': '🌵𝒜\u{10FFFF}',
  'combining marks that normalisation would change': 'e\u0301 \u00E9 \uFB01 \u212B',
  'byte order mark and noncharacters': '\uFEFFa\uFFFE\uFFFF',
  'right-to-left text': '\u05E0\u05D1\u05D8\u202Eabc',
  'what other languages take for syntax': '$where {"a": 1} \\u0041 \'; DROP -- <b> %00 ../',
  'names of JavaScript itself': '__proto__',
  '16,000 characters': 'ä'.repeat(16_000),
};

const IDS = [
  0n,
  1n,
  -1n,
  2n ** 31n - 1n,
  2n ** 31n,
  -(2n ** 31n) - 1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  MAX_PLANT_ID - 1n,
  MAX_PLANT_ID,
  MIN_PLANT_ID + 1n,
  MIN_PLANT_ID,
];

const add = (
  { repository }: Pick<OpenStore, 'repository'>,
  fields: NewPlantFields,
  timeLimit = TIME_LIMIT_MS,
) => repository.add(newPlant(fields), timeLimit);

async function keepsExactly(store: OpenStore, fields: NewPlantFields): Promise<void> {
  await add(store, fields);
  expect(await store.stored(fields.id)).to.deep.equal(fields);
}

const roundTrips: ContractCase[] = [
  ...Object.entries(STRINGS).map(([what, text]) => ({
    title: `keeps ${what}, as name and as tag`,
    run: (store: OpenStore) => keepsExactly(store, { id: 1n, name: text, tag: text }),
  })),
  {
    title: 'keeps an absent tag absent',
    run: (store) => keepsExactly(store, { id: 1n, name: 'Monstera' }),
  },
  {
    title: 'keeps ids across the whole int64 range apart',
    async run(store) {
      for (const id of IDS) await add(store, { id, name: `plant ${id}` });
      for (const id of IDS) {
        expect(await store.stored(id), `${id}`).to.deep.equal({ id, name: `plant ${id}` });
      }
    },
  },
];

/** Every repository gets a plant of its own with one id, at the same time. */
async function oneWins(store: OpenStore, repositories: readonly PlantRepository[]): Promise<void> {
  const outcomes = await Promise.allSettled(
    repositories.map((repository, index) =>
      add({ repository }, { id: 7n, name: `racer ${index}` }),
    ),
  );
  const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  const errors = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  expect(winners).to.have.length(1);
  expect(errors.every((error) => error instanceof PlantIdTakenError)).to.equal(true);
  expect((await store.stored(7n))?.name).to.equal(`racer ${winners[0]}`);
}

const uniqueness: ContractCase[] = [
  {
    title: 'rejects the second create of an id and keeps the first plant',
    async run(store) {
      await add(store, { id: 7n, name: 'first', tag: 'kept' });
      await rejects(add(store, { id: 7n, name: 'second' }), PlantIdTakenError);
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'first', tag: 'kept' });
    },
  },
  {
    title: 'rejects the second create even with the same content',
    async run(store) {
      await add(store, { id: 7n, name: 'same' });
      await rejects(add(store, { id: 7n, name: 'same' }), PlantIdTakenError);
    },
  },
  {
    title: 'lets exactly one of 100 concurrent creates of an id win',
    run: (store) => oneWins(store, Array(100).fill(store.repository)),
  },
  {
    title: 'lets exactly one of two repositories on the same storage win',
    async run(store) {
      const other = await store.reopen();
      await oneWins(store, [store.repository, other]).finally(() => other.close());
    },
  },
  {
    title: 'stores every one of 100 concurrent creates of different ids',
    async run(store) {
      const ids = Array.from({ length: 100 }, (_, index) => BigInt(index));
      await Promise.all(ids.map((id) => add(store, { id, name: `plant ${id}` })));
      for (const id of ids) expect((await store.stored(id))?.name).to.equal(`plant ${id}`);
    },
  },
  {
    title: 'tells each of the concurrent callers its own outcome',
    async run(store) {
      await add(store, { id: 3n, name: 'first' });
      const ids = [1n, 2n, 3n, 4n];
      const outcomes = await Promise.allSettled(ids.map((id) => add(store, { id, name: 'next' })));
      expect(outcomes.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
    },
  },
];

/** Settles like `promise`, unless it has not for too long. */
async function settled(promise: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const late = wait(PATIENCE_MS, undefined, patience).then(() => expect.fail('never settled'));
  await Promise.race([promise, late]).finally(() => patience.abort());
}

const timeLimits: ContractCase[] = [
  {
    title: 'answers an add without time as unavailable, and stores nothing',
    async run({ repository, stored }) {
      const plant = newPlant({ id: 1n, name: 'no time' });
      for (const timeLimit of [0, -1]) {
        await rejects(repository.add(plant, timeLimit), StorageUnavailableError);
      }
      expect(await stored(1n)).to.equal(undefined);
    },
  },
  {
    title: 'settles an add at its time limit though the storage answers nothing',
    stalls: true,
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      expect(store.stall, 'a way to stall the storage').to.be.a('function');
      store.stall?.();
      const adding = store.repository.add(newPlant({ id: 2n, name: 'during' }), BRIEF_MS);
      await rejects(settled(adding), (error) => {
        return error instanceof StorageUnavailableError || error instanceof OutcomeUnknownError;
      });
    },
  },
];

const lifetime: ContractCase[] = [
  {
    title: 'is not changed by what the caller does to its object afterwards',
    async run(store) {
      const plant = { ...newPlant({ id: 1n, name: 'before', tag: 'before' }) };
      const adding = store.repository.add(plant, TIME_LIMIT_MS);
      Object.assign(plant, { name: 'after', tag: 'after' } satisfies Partial<NewPlant>);
      await adding;
      Object.assign(plant, { name: 'later' } satisfies Partial<NewPlant>);
      expect(await store.stored(1n)).to.deep.equal({ id: 1n, name: 'before', tag: 'before' });
    },
  },
  {
    title: 'is ready when it is open',
    run: ({ repository }) => repository.ready(),
  },
  {
    title: 'reports that a storage that does not respond cannot be reached',
    stalls: true,
    async run({ repository, stall }) {
      stall?.();
      await rejects(settled(repository.ready()), StorageUnavailableError);
    },
  },
  {
    title: 'lets a plant wait when ready reports that it does',
    stalls: true,
    async run(store) {
      store.stall?.();
      const error: unknown = await store.repository.ready().catch((reason: unknown) => reason);
      if (!(error instanceof StorageUnavailableError && error.waits)) return;
      const started = performance.now();
      await rejects(add(store, { id: 1n, name: 'waiting' }, BRIEF_MS));
      expect(performance.now() - started).to.be.at.least(BRIEF_MS - TIMER_PRECISION_MS);
    },
  },
  {
    title: 'closes twice as well as once',
    async run({ repository }) {
      await Promise.all([repository.close(), repository.close()]);
      await repository.close();
    },
  },
  {
    title: 'rejects use after close as storage unavailable',
    async run(store) {
      await store.repository.close();
      await rejects(add(store, { id: 1n, name: 'too late' }), StorageUnavailableError);
      await rejects(store.repository.ready(), StorageUnavailableError);
    },
  },
  {
    title: 'brings an add that is under way to its end before it closes',
    async run(store) {
      let ended = false;
      const adding = add(store, { id: 1n, name: 'in time' }).then(() => {
        ended = true;
      });
      await store.repository.close();
      // Whoever waits for the add may be told a few microtasks later.
      await setImmediate();
      expect(ended, 'ended when the repository was closed').to.equal(true);
      await adding;
    },
  },
  {
    title: 'keeps a plant for good: it is there when the store is opened again',
    async run(store) {
      await add(store, { id: 7n, name: 'kept' });
      const repository = await store.reopen();
      const adding = repository.add(newPlant({ id: 7n, name: 'late' }), TIME_LIMIT_MS);
      await rejects(adding, PlantIdTakenError).finally(() => repository.close());
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'kept' });
    },
  },
];

/** The promises of the port, in a form that a runner other than Mocha can run too. */
export const contractCases: readonly ContractCase[] = [
  ...roundTrips,
  ...uniqueness,
  ...timeLimits,
  ...lifetime,
];

/**
 * Declares the suite that every `PlantRepository` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new, empty store for each case. The suite closes its repository.
 * @param options.neverStalls The storage cannot be made to stall in a test. What is left out then
 * is for the adapter to test itself, unless the storage is within the process.
 */
export function describePlantRepository(
  name: string,
  open: () => Promise<OpenStore>,
  { neverStalls = false } = {},
): void {
  describe(`${name} as a PlantRepository`, () => {
    for (const { title, stalls, run } of contractCases) {
      if (stalls && neverStalls) continue;
      it(title, async () => {
        const store = await open();
        try {
          await run(store);
        } finally {
          await store.repository.close();
        }
      });
    }
  });
}
