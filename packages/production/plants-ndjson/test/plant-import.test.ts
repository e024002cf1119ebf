import { rejects } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Client,
  type NewPlant,
  OutcomeUnknownError,
  type PlantCreator,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import {
  NotNdjsonError,
  PlantImport,
  type PlantImportOptions,
  type Reject,
} from '@plant-store/plants-ndjson';
import { expect } from 'chai';

const gardener: Client = { name: 'gardener', permissions: new Set(['create plants']) };
const LIMIT_BYTES = 64;
const STOPPED = new Error('stopped');
/** More lines than are imported concurrently. */
const MANY = 10_000;
const MAX_LINES = 4_000;

const line = (id: number | bigint) => `{"id":${id},"name":"plant ${id}"}\n`;
/** Lines without end, of plants that no test has otherwise. */
function* endless(begin = '') {
  yield Buffer.from(begin);
  for (let id = MANY; ; id += 1) yield Buffer.from(line(id));
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index)).join('');

function storing(add: PlantRepository['add']): PlantRepository {
  return { add, ready: async () => undefined, close: async () => undefined };
}

/** A store that rejects the first attempts for each plant with these errors, and then stores it. */
function failing(...errors: Error[]): PlantRepository {
  const attempts = new Map<bigint, number>();
  return storing(async ({ id }) => {
    const attempt = attempts.get(id) ?? 0;
    attempts.set(id, attempt + 1);
    const error = errors[attempt];
    if (error !== undefined) throw error;
  });
}

/** A store whose adds wait until all are released. */
function holding() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = {
    begun: 0,
    release,
    add: () => {
      held.begun += 1;
      return released;
    },
  };
  return held;
}

const creatorIn = (plants: PlantRepository): PlantCreator => ({
  client: gardener,
  create: (plant, timeLimitMs) => plants.add(plant, timeLimitMs).then(() => plant),
});

interface Options extends Partial<PlantImportOptions> {
  readonly plants?: PlantRepository;
}

/** An import, and the lines that it has recorded. */
function importInto({ plants = new MemoryPlantRepository(), ...options }: Options = {}) {
  const rejected: Reject[] = [];
  const stopping = new AbortController();
  const plantImport = new PlantImport({
    creator: creatorIn(plants),
    timeLimitMs: 1000,
    maxLineBytes: LIMIT_BYTES,
    reject: async (reject) => void rejected.push(reject),
    signal: stopping.signal,
    ...options,
  });
  return {
    rejected,
    run: (input: Readable | string | Buffer) =>
      Promise.race([
        plantImport.run(input instanceof Readable ? input : Readable.from([Buffer.from(input)])),
        wait(60_000, undefined, { ref: false }).then(() => expect.fail('the import does not end')),
      ]),
    stop: () => stopping.abort(STOPPED),
    /** The number of plants that were stored, and of lines that were not, by their error. */
    outcomes: () => ({ stored: plantImport.stored, ...Object.fromEntries(plantImport.rejected) }),
    nextLine: () => plantImport.nextLine,
  };
}

describe('An import', () => {
  it('stores the plant of each line exactly once, with every digit', async () => {
    const stored = new Map<bigint, NewPlant>();
    const text = '{"id":9007199254740993,"name":"Monstera","tag":"tropical"}\n{"id":1e3,"name":""}';
    const plants = new MemoryPlantRepository(stored);
    const [first, again] = [importInto({ plants }), importInto({ plants, signal: undefined })];
    expect(await first.run(text)).to.equal(2);
    expect(first.outcomes()).to.deep.equal({ stored: 2 });
    expect(await again.run(text)).to.equal(2);
    expect(again.outcomes()).to.deep.equal({ stored: 0, 4006: 2 });
    const taken = { line: 2, error: 4006, message: 'a plant with this id already exists' };
    expect(again.rejected[1]).to.deep.equal({ ...taken, text: '{"id":1e3,"name":""}' });
    expect([...stored.values()]).to.deep.equal([
      { id: 9007199254740993n, name: 'Monstera', tag: 'tropical' },
      { id: 1000n, name: '' },
    ]);
  });

  it('skips a byte order mark only at the beginning', async () => {
    const tested = importInto();
    await tested.run(`\ufeff${line(1)}\ufeff${line(2)}`);
    expect(tested.outcomes()).to.deep.equal({ stored: 1, 4004: 1 });
  });

  it('skips and counts blank lines', async () => {
    const tested = importInto();
    expect(await tested.run(`\n${line(1)}\r\n \t \r\n\r\r\n${line(2)}`)).to.equal(6);
    expect(tested.outcomes()).to.deep.equal({ stored: 2 });
    expect(tested.nextLine()).to.equal(7);
  });

  it('stores nothing if the first non-blank line is not a JSON object', async () => {
    const tested = importInto();
    await rejects(tested.run(`\n[${line(1).trim()}]\n${line(2)}`), NotNdjsonError);
    expect(tested.outcomes()).to.deep.equal({ stored: 0 });
    expect(tested.rejected).to.deep.equal([]);
  });

  it('refuses another format as soon as the first line exceeds the limit', async () => {
    async function* unending() {
      for (const _ of [1, 2]) yield Buffer.alloc(LIMIT_BYTES, '[');
      throw new Error('it was read further');
    }
    const tested = importInto();
    await rejects(tested.run(Readable.from(unending(), { highWaterMark: 1 })), NotNdjsonError);
  });

  for (const [what, lines, outcomes] of [
    ['not UTF-8', `${line(1)}"\xff"\n${line(2)}`, { stored: 2, 4004: 1 }],
    ['too large', `${line(1)}${' '.repeat(LIMIT_BYTES + 1)}\n${line(2)}`, { stored: 2, 4003: 1 }],
    [
      'the first, and too large',
      `{"a":"${'x'.repeat(2 ** 17)}"}\n${line(2)}`,
      { stored: 1, 4003: 1 },
    ],
  ] as const) {
    it(`reports a line that is ${what} without its text, and continues`, async () => {
      const tested = importInto();
      await tested.run(Buffer.from(lines, 'latin1'));
      expect(tested.outcomes()).to.deep.equal(outcomes);
      expect(tested.rejected[0]).not.to.have.property('text');
    });
  }

  it('reports progress in line order, whichever line is stored first', async () => {
    const { add, release } = holding();
    const tested = importInto({
      plants: storing(async ({ id }) => (id === 0n ? add() : undefined)),
    });
    const running = tested.run(lines(3));
    await new Promise(setImmediate);
    expect(tested.nextLine()).to.equal(1);
    release();
    expect(await running).to.equal(3);
    expect(tested.nextLine()).to.equal(4);
  });

  it('imports many lines concurrently, and reads no further ahead', async () => {
    const held = holding();
    const running = importInto({ plants: storing(held.add) }).run(lines(MANY));
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    expect(held.begun).to.equal(4_000);
    held.release();
    await running;
    expect(held.begun).to.equal(MANY);
  });

  it('imports fewer lines concurrently when they are large', async () => {
    const mebibyte = 2 ** 20;
    const large = Buffer.from(`{"id":1,"name":"${'x'.repeat(mebibyte)}"}\n`);
    const held = holding();
    const tested = importInto({ plants: storing(held.add), maxLineBytes: 2 * mebibyte });
    const running = tested.run(Readable.from(Array(66).fill(large)));
    while (held.begun < 64) await new Promise(setImmediate);
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(held.begun).to.equal(64);
    held.release();
    await running;
    expect(tested.outcomes()).to.deep.equal({ stored: 66 });
  });

  const outage = new StoreUnavailableError('gone');
  const lost = new OutcomeUnknownError('lost');
  const taken = new PlantIdTakenError('by an earlier attempt?');
  for (const [title, outcomes, ...errors] of [
    ['retries after two outages', { stored: 1 }, outage, outage],
    ['does not retry after an unknown outcome', { stored: 0, 5031: 1 }, lost],
    ['reports an id that is taken after an outage', { stored: 0, 4006: 1 }, outage, taken],
  ] as const) {
    it(title, async () => {
      const tested = importInto({ plants: failing(...errors) });
      await tested.run(line(1));
      expect(tested.outcomes()).to.deep.equal(outcomes);
    });
  }

  it('reports a bug with its cause but without its message, and continues', async () => {
    const bug = new Error('secret');
    const reported: unknown[] = [];
    const tested = importInto({
      plants: failing(bug),
      reject: async (...it) => void reported.push(it),
    });
    await tested.run(`${line(1)}[]\n`);
    expect(tested.outcomes()).to.deep.equal({ stored: 0, 5000: 1, 4005: 1 });
    const text = line(1).trim();
    expect(reported[0]).to.deep.equal([
      { line: 1, error: 5000, message: 'internal error', text },
      bug,
    ]);
  });

  describe('that is stopped', () => {
    it('waits for creates in progress, and can be resumed where it stopped', async () => {
      const stored = new Map<bigint, NewPlant>();
      const plants = new MemoryPlantRepository(stored);
      const slow = storing(async (plant, timeLimitMs) => {
        if (plant.id === 5000n) first.stop();
        await new Promise(setImmediate);
        await plants.add(plant, timeLimitMs);
      });
      const first = importInto({ plants: slow });
      await rejects(first.run(lines(MANY)), STOPPED);
      const nextLine = first.nextLine();
      expect(first.outcomes()).to.deep.equal({ stored: nextLine - 1 });
      expect(stored.size).to.equal(nextLine - 1);
      expect(nextLine).to.be.within(5001, MANY - 1);

      const second = importInto({ plants, fromLine: nextLine });
      await second.run(lines(MANY));
      expect(second.outcomes()).to.deep.equal({ stored: MANY - nextLine + 1 });
    });

    it('ends even while each line is rejected immediately', async () => {
      const tested = importInto({ maxLineBytes: 1 });
      setImmediate(tested.stop);
      await rejects(tested.run(Readable.from(Array(MANY).fill(Buffer.from(lines(10))))), STOPPED);
      expect(tested.nextLine()).to.be.below(10 * MANY);
    });

    for (const begins of [true, false]) {
      it(`ends even when no input arrives, ${begins ? 'after' : 'before'} its first line`, async () => {
        const input = new Readable({ read: () => undefined });
        const tested = importInto();
        if (!begins) tested.stop();
        const running = rejects(tested.run(input), STOPPED);
        input.push(line(1));
        await new Promise(setImmediate);
        tested.stop();
        await running;
        expect(tested.outcomes()).to.deep.equal({ stored: begins ? 1 : 0 });
      });
    }

    for (const [what, isDown, outcomes, nextLine] of [
      ['one plant is', (id: bigint) => id === 1n, { stored: 3, 5030: 1 }, 5],
      ['all plants are', () => true, { stored: 0 }, 1],
    ] as const) {
      it(`retries nothing while ${what} unavailable, and can be resumed at line ${nextLine}`, async () => {
        let attempts = 0;
        const plants = storing(async ({ id }) => {
          attempts += 1;
          if (isDown(id)) throw outage;
        });
        const tested = importInto({ plants, timeLimitMs: 60_000 });
        const running = rejects(tested.run(lines(4)), STOPPED);
        while (attempts < 4) await new Promise(setImmediate);
        tested.stop();
        await running;
        expect(tested.outcomes()).to.deep.equal(outcomes);
        expect(tested.nextLine()).to.equal(nextLine);
        expect(attempts).to.equal(4);
      });
    }
  });

  it('ends if nothing is stored within the time limit, and can be resumed', async () => {
    let isDown = false;
    const stored = new Map<bigint, NewPlant>();
    const memory = new MemoryPlantRepository(stored);
    const plants = storing(async (plant, timeLimitMs) => {
      if (plant.id === BigInt(MANY)) isDown = true;
      if (isDown) throw outage;
      await memory.add(plant, timeLimitMs);
    });
    const first = importInto({ plants, timeLimitMs: 100 });
    await rejects(first.run(lines(2 * MANY)), outage);
    const nextLine = first.nextLine();
    expect(first.rejected.every(({ error }) => error === 5030)).to.equal(true);
    expect(first.outcomes().stored + first.rejected.length).to.equal(nextLine - 1);
    expect(nextLine).to.be.within(MANY + 1, MANY + MAX_LINES + 1);

    const second = importInto({ plants: memory, fromLine: nextLine });
    await second.run(lines(2 * MANY));
    expect(second.outcomes()).to.deep.equal({ stored: 2 * MANY - nextLine + 1 });
    expect(stored.size).to.equal(2 * MANY - first.rejected.length);
  });

  for (const [what, add] of [
    ['stored', async () => undefined],
    ['taken', () => Promise.reject(new PlantIdTakenError())],
  ] as const) {
    it(`rejects a line that stays unavailable while others are ${what}, and continues`, async () => {
      const plants = storing(async ({ id }) => (id === 1n ? Promise.reject(outage) : add()));
      const tested = importInto({ plants, timeLimitMs: 100 });
      expect(await tested.run(lines(MANY))).to.equal(MANY);
      const others = what === 'stored' ? { stored: MANY - 1 } : { stored: 0, 4006: MANY - 1 };
      expect(tested.outcomes()).to.deep.equal({ ...others, 5030: 1 });
      expect(tested.rejected.find(({ error }) => error === 5030)?.line).to.equal(2);
    });
  }

  it('shares one time limit among all attempts for a plant', async () => {
    const limits: number[] = [];
    const plants = storing(async (_, timeLimitMs) => {
      limits.push(timeLimitMs);
      throw outage;
    });
    const tested = importInto({ plants, timeLimitMs: 2_000 });
    await rejects(tested.run(line(1)), outage);
    expect(tested.outcomes()).to.deep.equal({ stored: 0 });
    expect(tested.nextLine()).to.equal(1);
    expect(limits[0]).to.be.within(1, 2_000);
    // The pauses double from 100 ms on, so the sixth attempt comes after the limit.
    expect(limits).to.have.lengthOf.within(2, 6);
    expect(limits.slice(1).every((limit, at) => limit < (limits[at] ?? 0))).to.equal(true);
  });

  it('ends at a line that cannot be reported, and can be resumed there', async () => {
    const full = new Error('no space left');
    const plants = storing(async ({ id }) => {
      if (id !== 1n) throw outage;
    });
    const tested = importInto({ plants, timeLimitMs: 60_000, reject: () => Promise.reject(full) });
    await rejects(tested.run(Readable.from(endless(`${line(1)}[]\n`))), full);
    expect(tested.nextLine()).to.equal(2);
    expect(tested.outcomes()).to.deep.equal({ stored: 1 });
  });

  it('accounts for every line that was read before the input failed', async () => {
    async function* broken() {
      yield Buffer.from(lines(3));
      throw new Error('the disk is gone');
    }
    const tested = importInto();
    await rejects(tested.run(Readable.from(broken())), /the disk is gone/);
    expect(tested.outcomes()).to.deep.equal({ stored: 3 });
    expect(tested.nextLine()).to.equal(4);
  });
});
