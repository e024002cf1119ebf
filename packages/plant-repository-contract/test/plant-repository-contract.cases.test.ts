import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  OutcomeUnknownError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { contractCases, type OpenStore } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { correctStore } from './support/correct-store.js';
import { SimulatedStorage } from './support/simulated-storage.js';

/** Every case, with the faults that it needs. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  'is empty before the first add': [],
  'keeps the empty string, as name and as tag': [],
  'keeps leading and trailing space, as name and as tag': [],
  'keeps U+0000, as name and as tag': [],
  'keeps every control character, as name and as tag': [],
  'keeps characters beyond the basic plane, as name and as tag': [],
  'keeps combining marks that normalisation would change, as name and as tag': [],
  'keeps byte order mark and noncharacters, as name and as tag': [],
  'keeps right-to-left text, as name and as tag': [],
  'keeps what other languages take for syntax, as name and as tag': [],
  'keeps names of JavaScript itself, as name and as tag': [],
  'keeps 16,000 characters, as name and as tag': [],
  'keeps an absent tag absent': [],
  'distinguishes ids across the whole range of int64': [],
  'rejects a second create with an id and keeps the first plant': [],
  'rejects a second create with an id even when the content is the same': [],
  'stores exactly one of 100 concurrent creates with one id': [],
  'stores exactly one of two concurrent creates with one id through two repositories': [],
  'stores all of 100 concurrent creates with different ids': [],
  'reports the outcome of its own plant to each concurrent caller': [],
  'rejects an add with a time limit of 0 or less as unavailable, and stores nothing': [],
  'settles an add at its time limit when the storage does not respond': ['stall'],
  'is not ready when the storage does not respond': ['stall'],
  'waits up to the time limit when ready has reported that an add waits': ['stall'],
  'never reports a stored plant as unavailable when the storage stops responding after the write': [
    'silenceAfterWrite',
    'recover',
  ],
  'never reports a stored plant as unavailable when the storage does not respond': [
    'stall',
    'recover',
  ],
  'never reports a stored plant as unavailable when the storage cannot be reached': [
    'outage',
    'recover',
  ],
  'reports a plant as stored, or as unknown, when its acknowledgement is lost': [
    'loseNextAcknowledgement',
  ],
  'does not mistake the plant of another call for its own, even when the content is the same': [
    'loseNextAcknowledgement',
  ],
  'reports a true outcome to each of 100 concurrent callers while the storage does not respond': [
    'stall',
    'recover',
  ],
  'keeps every acknowledged plant when the storage is killed': ['crash'],
  'reports every plant as unavailable once ready reports that the storage cannot be reached': [
    'outage',
  ],
  'reports every plant as unavailable once ready reports that the storage refuses access': [
    'refuseAccess',
  ],
  'recovers without a restart when the storage can be reached again': ['outage', 'recover'],
  'recovers without a restart when the storage responds again': ['stall', 'recover'],
  'recovers without a restart when the storage grants access again': ['refuseAccess', 'recover'],
  'recovers without a restart when the storage was killed and started again': ['crash'],
  'reveals no secret and no value of a plant in its errors': [],
  'reveals no secret and no value of a plant in its errors when the storage stops responding after the write':
    ['silenceAfterWrite'],
  'reveals no secret and no value of a plant in its errors when the storage cannot be reached': [
    'outage',
  ],
  'reveals no secret and no value of a plant in its errors when the storage refuses access': [
    'refuseAccess',
  ],
  'keeps a copy: later changes of the object of its caller have no effect': [],
  'is ready when it accepts plants': [],
  'can be closed more than once': [],
  'rejects every call after close as unavailable': [],
  'settles an add that is under way before it closes': [],
  'keeps a plant durably: it is there when the store is opened again': [],
};

/** How a store may change a text, by what it does not keep then. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'the empty string': (text) => text || 'unnamed',
  'leading and trailing space': (text) => text.trimStart(),
  'U+0000': (text) => text.replaceAll('\0', ''),
  'every control character': (text) => text.replaceAll('\u007F', '').replaceAll('\u0085', ''),
  'characters beyond the basic plane': (text) => text.replace(/[\u{10000}-\u{10FFFF}]/gu, '?'),
  'combining marks that normalisation would change': (text) => text.normalize('NFKC'),
  'byte order mark and noncharacters': (text) => text.replace(/^\uFEFF/, ''),
  'right-to-left text': (text) => text.replaceAll('\u202E', ''),
  'what other languages take for syntax': (text) => text.replace(/<[^>]*>/g, ''),
  'names of JavaScript itself': (text) => (text in {} ? '' : text),
  '16,000 characters': (text) => text.slice(0, 15_999),
};

/** How a store may change an id. */
const IDS: Readonly<Record<string, (id: bigint) => bigint>> = {
  'has 32 bits for an id': (id) => BigInt.asIntN(32, id),
  'has 32 bits without a sign for an id': (id) => BigInt.asUintN(32, id),
  'has 63 bits for an id': (id) => BigInt.asIntN(63, id),
  'has 64 bits without a sign for an id': (id) => BigInt.asUintN(64, id),
  'keeps no sign': (id) => (id < 0n ? -id : id),
  'has no room for the largest id': (id) => (id === MAX_PLANT_ID ? id - 1n : id),
  'has no room for the smallest id': (id) => (id === MIN_PLANT_ID ? id + 1n : id),
};

/** The ids that a store must distinguish. */
const KEPT_IDS = [
  ...[0n, 1n, -1n, 2_147_483_647n, 2_147_483_648n, -2_147_483_649n],
  ...[9_007_199_254_740_991n, 9_007_199_254_740_992n, 9_007_199_254_740_993n],
  ...[-9_007_199_254_740_993n, MAX_PLANT_ID - 1n, MAX_PLANT_ID, MIN_PLANT_ID + 1n, MIN_PLANT_ID],
];

/** The hooks after which a store is used again. */
const ENDS = ['recover', 'crash'] as const;

/** Properties of an error that hold a secret, by where they do. */
const secretsIn = (secret: string) => ({
  'below 10 other properties': {
    a: { b: { c: { d: { e: { f: { g: { h: { i: { j: secret } } } } } } } } },
  },
  'after 200 items of a list': { items: [...Array(200).keys(), secret] },
  'after 20,000 characters': { text: `${'x'.repeat(20_000)}${secret}` },
  'that it hides from `inspect`': { secret, [inspect.custom]: () => 'nothing' },
  'in a property that is not enumerable': {
    options: Object.defineProperty({}, 'password', { value: secret }),
  },
});

const TIMES = {
  'rejects an add with a time limit of 0 or less as unavailable, and stores nothing': [0, -1],
  'settles an add at its time limit when the storage does not respond': [10_000, 100],
  'stores exactly one of 100 concurrent creates with one id': Array(100).fill(10_000),
  'stores all of 100 concurrent creates with different ids': Array(100).fill(10_000),
  'reports a true outcome to each of 100 concurrent callers while the storage does not respond': [
    ...Array(100).fill(100),
    ...Array(100).fill(10_000),
  ],
  'keeps every acknowledged plant when the storage is killed': Array(20).fill(10_000),
  'reveals no secret and no value of a plant in its errors': [10_000, 10_000, 0, 10_000],
};

describe('The cases for a PlantRepository', () => {
  it('have these titles and needs', () => {
    const found = contractCases.map(({ title, needs = [] }) => [title, needs]);
    expect(Object.fromEntries(found)).to.deep.equal(CASES);
  });

  interface Changes {
    readonly plant?: (plant: NewPlant) => NewPlant;
    readonly times?: number[];
  }

  /** A store that makes other plants of those that are added. */
  function open({ plant: change = (plant) => plant, times = [] }: Changes = {}): OpenStore {
    const storage = new SimulatedStorage();
    const correct = correctStore(storage);
    return {
      ...storage,
      repository: {
        ...correct,
        add(plant, timeLimit) {
          times.push(timeLimit);
          return correct.add(change(plant), timeLimit);
        },
      },
      stored: async (id) => storage.stored(id),
      reopen: async () => correctStore(storage),
    };
  }

  async function problemOf(title: string, store: OpenStore): Promise<string | undefined> {
    const found = contractCases.find((it) => it.title === title);
    if (found === undefined) throw new Error(`there is no case "${title}"`);
    return found.run(store).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }

  for (const [what, changed] of Object.entries(TEXTS)) {
    const title = `keeps ${what}, as name and as tag`;

    it(`catch a repository that does not keep ${what} as a name`, async () => {
      const store = open({ plant: (plant) => ({ ...plant, name: changed(plant.name) }) });
      expect(await problemOf(title, store)).to.match(/to deeply equal/);
    });

    it(`catch a repository that does not keep ${what} as a tag`, async () => {
      const store = open({ plant: (plant) => ({ ...plant, tag: changed(plant.tag ?? '') }) });
      expect(await problemOf(title, store)).to.match(/to deeply equal/);
    });
  }

  for (const [how, changed] of Object.entries(IDS)) {
    it(`catch a repository that ${how}`, async () => {
      const id = (plant: NewPlant) => changed(plant.id) as NewPlant['id'];
      const store = open({ plant: (plant) => ({ ...plant, id: id(plant) }) });
      const problem = await problemOf('distinguishes ids across the whole range of int64', store);
      expect(problem).not.to.equal(undefined);
    });
  }

  for (const id of KEPT_IDS) {
    it(`catch a repository that loses the id ${id}`, async () => {
      const { stored, ...rest } = open();
      const losing = {
        ...rest,
        stored: async (it: bigint) => (it === id ? undefined : stored(it)),
      };
      const title = 'distinguishes ids across the whole range of int64';
      expect(await problemOf(title, losing)).to.match(new RegExp(`^${id}: `));
    });
  }

  for (const { title } of contractCases.filter(({ needs = [] }) =>
    ENDS.some((it) => needs.includes(it)),
  )) {
    it(`wait for a repository that needs time to recover: ${title}`, async () => {
      const storage = new SimulatedStorage();
      let looks = 0;
      const slow = () => {
        const correct = correctStore(storage);
        const unavailable = () => {
          if (looks > 0) throw new StorageUnavailableError('connecting', { waits: true });
        };
        return {
          ...correct,
          async add(plant: NewPlant, timeLimit: number) {
            unavailable();
            await correct.add(plant, timeLimit);
          },
          async ready() {
            looks -= 1;
            unavailable();
            await correct.ready();
          },
        };
      };
      const thenConnect = (end: () => Promise<void>) => async () => {
        await end();
        looks = 3;
      };
      const problem = await problemOf(title, {
        ...storage,
        repository: slow(),
        stored: async (id) => storage.stored(id),
        reopen: async () => slow(),
        recover: thenConnect(storage.recover),
        crash: thenConnect(storage.crash),
      });
      expect(problem).to.equal(undefined);
    });
  }

  for (const [place, error] of Object.entries(secretsIn('a-secret'))) {
    it(`catch a repository that reveals a secret ${place}`, async () => {
      const { repository, ...rest } = open();
      const ready = () => Promise.reject(Object.assign(new StorageUnavailableError('x'), error));
      const store = { ...rest, repository: { ...repository, ready }, secrets: ['a-secret'] };
      const title =
        'reveals no secret and no value of a plant in its errors when the storage cannot be reached';
      expect(await problemOf(title, store)).to.match(/^secret 2 is in an error: /);
    });
  }

  for (const [title, expected] of Object.entries(TIMES)) {
    it(`use these time limits: ${title}`, async () => {
      const times: number[] = [];
      expect(await problemOf(title, open({ times }))).to.equal(undefined);
      expect(times).to.deep.equal(expected);
    });
  }

  it('name a missing hook', async () => {
    const { repository, stored, reopen } = open();
    const title = 'recovers without a restart when the storage responds again';
    expect(await problemOf(title, { repository, stored, reopen })).to.equal(
      'the store has no stall(): offer it, or give a reason in `without`',
    );
  });

  it('number the secret that was found, and do not repeat it', async () => {
    const { repository, ...rest } = open();
    const add = () => Promise.reject(new StorageUnavailableError('password: a-secret'));
    const store = { ...rest, repository: { ...repository, add }, secrets: ['x/y', 'a-secret'] };
    const title =
      'reveals no secret and no value of a plant in its errors when the storage cannot be reached';
    expect(await problemOf(title, store)).to.match(/^secret 3 is in an error: /);
  });

  it('catch a repository that loses an acknowledged plant, and one that keeps a refused plant', async () => {
    const title = 'never reports a stored plant as unavailable when the storage cannot be reached';
    const lost = open();
    const losing = { ...lost, repository: { ...lost.repository, add: async () => undefined } };
    expect(await problemOf(title, losing)).to.match(/^stored, and kept otherwise: /);
    const storage = new SimulatedStorage();
    const correct = correctStore(storage);
    const keeping = {
      ...{ ...storage, stored: async (id: bigint) => storage.stored(id) },
      reopen: async () => correct,
      repository: {
        ...correct,
        add: (plant: NewPlant, timeLimit: number) => {
          storage.keep(plant);
          return plant.name === 'during'
            ? Promise.reject(new StorageUnavailableError('x'))
            : Promise.resolve(void timeLimit);
        },
      },
    };
    expect(await problemOf(title, keeping)).to.match(/^unavailable, and kept: /);
  });

  it('do not fail when the outcome of a plant that is not stored was unknown', async () => {
    const title = 'never reports a stored plant as unavailable when the storage cannot be reached';
    const { repository, ...rest } = open();
    const add = (plant: NewPlant, timeLimit: number) =>
      plant.name === 'during'
        ? Promise.reject(new OutcomeUnknownError('x'))
        : repository.add(plant, timeLimit);
    const store = { ...rest, repository: { ...repository, add } };
    expect(await problemOf(title, store)).to.equal(undefined);
  });

  describe('wait', () => {
    const { setTimeout } = timers;
    let now: number;
    let waits: number[];

    /** Has a wait end at once after its time by the clock: each, or those that nothing can end earlier. */
    function waitWith(ends: (options: object | undefined) => boolean): void {
      Object.assign(timers, {
        setTimeout: async (ms: number, _: undefined, options?: object) => {
          if (!ends(options)) await new Promise(() => {});
          waits.push(ms);
          now += ms;
        },
      });
      syncBuiltinESMExports();
    }

    beforeEach(() => {
      now = 0;
      waits = [];
      performance.now = () => now;
    });

    afterEach(() => {
      Reflect.deleteProperty(performance, 'now');
      Object.assign(timers, { setTimeout });
      syncBuiltinESMExports();
    });

    it('3 seconds for a call', async () => {
      waitWith(() => true);
      const { repository, ...rest } = open();
      const hanging = { ...repository, ready: () => new Promise<void>(() => {}) };
      const title = 'is not ready when the storage does not respond';
      const problem = await problemOf(title, { ...rest, repository: hanging });
      expect(problem).to.include('never settled');
      expect(waits).to.deep.equal([3000]);
    });

    it('20 seconds for the end of an outage, and check every 10 ms', async () => {
      waitWith((options) => options === undefined);
      const { repository, ...rest } = open();
      const ready = () => Promise.reject(new StorageUnavailableError('gone'));
      const problem = await problemOf(
        'recovers without a restart when the storage was killed and started again',
        {
          ...rest,
          repository: { ...repository, ready },
        },
      );
      expect(problem).to.equal('the repository was not ready again');
      expect(now).to.equal(20_010);
      expect(new Set(waits)).to.deep.equal(new Set([10]));
    });
  });
});
