import { rejects } from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OutcomeUnknownError, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import type { BatchTracer, StoreEvent } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { Availability } from '../src/availability.js';
import type { BatchOptions } from '../src/batch.js';
import { NoResponseError } from '../src/clock.js';
import { sizeOf } from '../src/group-commit.js';
import {
  AVAILABLE,
  databaseWith,
  FakePlantDatabase,
  groupCommitWith,
  type Methods,
  plant,
  unsettled,
} from './support/database-with.js';
import { VirtualTime } from './support/virtual-time.js';

const LIMIT_MS = 5_000;
const SHORT_LIMIT_MS = 40;
const REFUSAL = {
  finding: 'plant refused',
  code: 121,
  reason: 'the validator refuses it',
} as const;

/** @param given Methods of the database and of its inserts, among others. */
function open(given: Partial<BatchOptions> & Methods = {}) {
  const fake = new FakePlantDatabase();
  const clock = new VirtualTime();
  const events: StoreEvent[] = [];
  const plants = groupCommitWith({
    database: databaseWith({ ...fake.methods, ...given }),
    clock,
    observer: (event) => events.push(event),
    ...given,
  });
  const add = (id: bigint, timeLimitMs = LIMIT_MS) => plants.add(plant(id), timeLimitMs);
  /** Settles when all do. Time advances when nothing else is left to do. */
  const settled = (...work: Promise<unknown>[]) => Promise.all([clock.runOut(60_000), ...work]);
  return { fake, clock, events, plants, add, settled };
}

/** Opens with batches of one and three plants in flight, so that a further plant waits. */
async function openBusy() {
  const opened = open();
  const underWay = [opened.add(101n)];
  const first = await opened.fake.insert(0);
  for (const id of [102n, 103n, 104n]) underWay.push(opened.add(id));
  return { ...opened, underWay, first, second: await opened.fake.insert(1) };
}

describe('Batches', () => {
  it('contain at most 1,000 plants and 4 MiB', async () => {
    const { fake, plants } = open();
    const names = Array.from({ length: 2_000 }, (_, id) => 'r'.repeat(id < 9 ? 2 ** 20 : 1));
    for (const [id, name] of names.entries()) void plants.add(plant(BigInt(id), name), LIMIT_MS);
    await fake.insert(3);
    expect(fake.inserts.map(({ ids }) => ids.length)).to.deep.equal([3, 3, 1_000, 994]);
  });

  it('wait until they contain half as many plants as are in flight', async () => {
    // Four plants are in flight: one alone, then three.
    const { fake, add } = await openBusy();
    void add(1n);
    await nextTurn();
    expect(fake.inserts).to.have.length(2);
    void add(2n);
    expect((await fake.insert(2)).ids).to.deep.equal([1n, 2n]);
  });

  it('do not count plants whose callers have gone', async () => {
    const { fake, clock, add } = await openBusy();
    const expired = rejects(add(1n, SHORT_LIMIT_MS), StoreUnavailableError);
    clock.step();
    await expired;
    void add(2n);
    await nextTurn();
    expect(fake.inserts).to.have.length(2);
  });

  it('run at most four at a time', async () => {
    const { fake, add } = open();
    const addMany = (ids: readonly bigint[]) => {
      for (const id of ids) void add(id);
    };
    for (const [number, ids] of [[1n], [2n], [3n], [4n, 5n]].entries()) {
      addMany(ids);
      await fake.insert(number);
    }
    addMany([6n, 7n, 8n, 9n, 10n]);
    await nextTurn();
    expect(fake.inserts).to.have.length(4);
    fake.inserts[0]?.reply();
    expect((await fake.insert(4)).ids).to.deep.equal([6n, 7n, 8n, 9n, 10n]);
  });

  it('start after 100 ms even if those in flight take longer', async () => {
    const { fake, clock, add, underWay, settled } = await openBusy();
    const small = async () => {
      expect([(await fake.insert(2)).ids, clock.now()]).to.deep.equal([[1n], 100]);
      void add(2n);
      expect([(await fake.insert(3)).ids, clock.now()]).to.deep.equal([[2n], 200]);
      for (const insert of fake.inserts) insert.reply();
    };
    await settled(...underWay, add(1n), small());
  });

  it('may last until the latest deadline of their plants, and the observer gets the failure', async () => {
    const { fake, clock, events, add, settled } = open();
    const failure = new Error('connection lost');
    clock.after(30, () => fake.inserts[0]?.fail(failure));
    await settled(...[20, 40, 35].map((limit) => rejects(add(BigInt(limit), limit))));
    expect(fake.inserts[0]?.timeLimitMs).to.equal(40);
    expect(events).to.deep.equal([{ type: 'batch written', plants: 3, durationMs: 30, failure }]);
  });
});

it('A plant that is inserted again waits longer, up to a second, while the server replies', async () => {
  for (const findings of [['not now' as const], 'unknown' as const]) {
    const { fake, clock, add, settled } = open();
    const sentAt: number[] = [];
    fake.onInsert = ({ reply }) => reply(sentAt.push(clock.now()) < 8 ? findings : 'stored');
    await settled(add(1n, 60_000));
    expect(sentAt).to.deep.equal([0, 50, 150, 350, 750, 1_550, 2_550, 3_550]);
  }
});

describe('A time limit', () => {
  it('does not reject a plant whose reply arrived while the process was stalled', async () => {
    const { fake, clock, add, settled } = open();
    const adding = add(1n, SHORT_LIMIT_MS);
    clock.after(SHORT_LIMIT_MS, () => fake.inserts[0]?.reply());
    await settled(adding);
  });
});

describe('A group commit', () => {
  it('rejects new plants as soon as it begins to close', async () => {
    const { fake, plants, add } = open();
    const closing = plants.close();
    await rejects(add(1n), new StoreUnavailableError('the store is closed'));
    await closing;
    expect(fake.inserts).to.deep.equal([]);
  });

  it('sends nothing after close, even if the first check succeeds then', async () => {
    const first = unsettled<void>();
    const { fake, clock, plants, add, settled } = open({
      availability: { ...AVAILABLE, wasReached: false, ready: () => first.promise },
    });
    const message = 'the plant was not stored: the store is closed';
    const refused = rejects(add(1n), new StoreUnavailableError(message));
    await settled(refused, plants.close());
    first.resolve();
    await clock.runOut(60_000);
    expect(fake.inserts).to.deep.equal([]);
  });

  it("inserts outside its callers' asynchronous contexts, and restores each of them", async () => {
    const context = new AsyncLocalStorage<string>();
    const contexts: unknown[] = [];
    const { fake, add } = open();
    fake.onInsert = ({ reply }) => {
      contexts.push(context.getStore());
      setImmediate(reply, 'taken');
    };
    const names = ['request 1', 'request 2', 'request 3', 'request 4'];
    const after = names.map((name, id) =>
      context.run(name, async () => {
        await rejects(add(BigInt(id)), PlantIdTakenError);
        return context.getStore();
      }),
    );
    expect(await Promise.all(after)).to.deep.equal(names);
    expect(contexts).to.deep.equal([undefined]);
  });
});

describe('A group commit that is closed', () => {
  it('gives up plants as soon as they turn out to be unwritten', async () => {
    const availability = { ...AVAILABLE, isQuick: false };
    const { fake, clock, plants, add, settled } = open({ availability });
    const refused = rejects(add(1n), StoreUnavailableError).then(() => clock.now());
    clock.after(1_500, () => fake.inserts[0]?.reply('not now'));
    await settled(plants.close());
    expect(await refused).to.equal(1_500);
  });

  it('leaves no timer behind, even if an insert without callers has no reply', async () => {
    const { fake, clock, plants, add } = open();
    const expired = rejects(add(1n, SHORT_LIMIT_MS), OutcomeUnknownError);
    await fake.insert(0);
    clock.step();
    await expired;
    await plants.close();
    await clock.runOut(0);
  });
});

describe('A tracer', () => {
  it('receives each batch with its callers', async () => {
    const runs: unknown[] = [];
    const callers = [1, 2, 3];
    const tracer: BatchTracer = {
      caller: () => callers.shift(),
      run(name, callers, command) {
        runs.push([name, ...callers]);
        return command();
      },
    };
    const { fake, add } = open({ tracer });
    const taken = rejects(add(1n), PlantIdTakenError);
    (await fake.insert(0)).reply('taken');
    await taken;
    const adding = [add(2n), add(3n)];
    (await fake.insert(1)).reply();
    await Promise.all(adding);
    expect(runs).to.have.deep.members([
      ['insert plants', 1],
      ['insert plants', 2, 3],
    ]);
  });
});

describe('A plant that is added', () => {
  it('causes one alert when the database refuses it', async () => {
    const { fake, events, add } = open();
    const message = 'the database refuses a plant that the service accepts (121)';
    const bad = rejects(add(2n), { name: 'Error', message });
    const stored = 'a plant with this id was stored before';
    const taken = rejects(add(3n), { code: 'PLANT_ID_TAKEN', message: stored });
    (await fake.insert(0)).reply([REFUSAL, 'taken']);
    await Promise.all([bad, taken]);
    const alerts = events.filter(({ type }) => type === 'plant refused');
    expect(alerts).to.deep.equal([
      { type: 'plant refused', id: 2n, code: 121, reason: REFUSAL.reason },
    ]);
  });

  it('causes no alert when an earlier insert may have written it', async () => {
    const { fake, events, add, settled } = open();
    fake.onInsert = ({ fail, reply }, number) => (number === 0 ? fail() : reply([REFUSAL]));
    await settled(rejects(add(1n), OutcomeUnknownError));
    expect(fake.inserts.length).to.be.above(2);
    expect(events.map(({ type }) => type)).not.to.include('plant refused');
  });

  it('is rejected immediately if the database, its size or its time limit rules it out', async () => {
    const addError = new StoreUnavailableError('plants are refused: it is a view');
    const { fake, add } = open({ availability: { ...AVAILABLE, addError } });
    await rejects(add(1n), { message: `the plant was not stored: ${addError.message}` });
    expect(fake.inserts).to.deep.equal([]);
    const small = open({ maxPlantBytes: sizeOf(plant(1n)) });
    await rejects(small.add(10n), RangeError);
    await rejects(small.add(1n, 0), { message: 'there is no time left' });
    void small.add(1n);
    expect((await small.fake.insert(0)).ids).to.deep.equal([1n]);
  });
});

describe('A batch', () => {
  for (const [checkMs, when] of [
    [1, 'timers fire early'],
    [200, 'a check is in progress whenever a reply is due'],
  ] as const) {
    it(`is sent a fourth time within 4 s when three replies are lost, even if ${when}`, async () => {
      const clock = new VirtualTime();
      const early = {
        now: () => clock.now(),
        after: (ms: number, act: () => void) => clock.after(ms - 5, act),
      };
      const database = databaseWith({ check: () => clock.wait(checkMs) });
      const closing = new AbortController();
      const availability = new Availability({
        database,
        observer() {},
        closing: closing.signal,
        clock: early,
      });
      const { fake, add } = open({ availability, clock: early });
      const sentAt: number[] = [];
      fake.onInsert = ({ reply }) => {
        if (sentAt.push(clock.now()) < 4) return;
        reply();
        closing.abort();
      };
      await Promise.all([clock.runOut(60_000), add(1n, 15_000)]);
      expect(sentAt.at(-1)).to.be.below(4_000);
    });
  }

  it('is given up when a quick check shows that its reply is lost, three times after 0.8 s, then after up to 6.4 s', async () => {
    const { fake, clock, add, settled } = open();
    const sent: number[][] = [];
    fake.onInsert = ({ timeLimitMs, reply }) => {
      sent.push([clock.now(), timeLimitMs]);
      if (sent.length === 8) reply();
    };
    await settled(add(1n, 60_000));
    const limits = [700, 700, 700, 1_400, 2_800, 5_600, 5_600, 5_600];
    expect(sent.map(([, limit]) => limit)).to.deep.equal(limits);
    const times = [0, 850, 1_700, 2_550, 4_200, 7_450, 13_900, 20_350];
    expect(sent.map(([at]) => at)).to.deep.equal(times);
  });

  it('is waited for while no check is quick', async () => {
    const { fake, clock, add, settled } = open({ availability: { ...AVAILABLE, isQuick: false } });
    clock.after(9_001, () => fake.inserts[0]?.reply());
    await settled(add(1n, 15_000));
    expect(fake.inserts.map(({ timeLimitMs }) => timeLimitMs)).to.deep.equal([15_000]);
  });

  it('that may have been written gives its plants an unknown outcome, with the reason', async () => {
    const cause = new Error('connection lost');
    const readyError = new StoreUnavailableError('it is not reachable');
    const message = 'the outcome was not known in time';
    const unknown = { code: 'OUTCOME_UNKNOWN', message };
    const failed = open();
    failed.fake.onInsert = ({ fail }) => fail(cause);
    await failed.settled(rejects(failed.add(1n), { ...unknown, cause }));
    const silent = open();
    const noResponse = { ...unknown, cause: new NoResponseError() };
    await silent.settled(rejects(silent.add(1n, SHORT_LIMIT_MS), noResponse));
    const down = open({ availability: { ...AVAILABLE, readyError } });
    await down.settled(rejects(down.add(1n, SHORT_LIMIT_MS), { ...unknown, cause: readyError }));
  });

  it('that cannot be repeated is waited for until its callers have gone', async () => {
    const { fake, add, settled } = open({ isRepeatable: false });
    await settled(rejects(add(1n, 9_000), OutcomeUnknownError));
    expect(fake.inserts.map(({ timeLimitMs }) => timeLimitMs)).to.deep.equal([9_000]);
    await rejects(fake.inserts[0]?.result ?? expect.fail(), NoResponseError);
  });

  it('that cannot be repeated inserts the plants again that it has not written', async () => {
    const { fake, add, settled } = open({ isRepeatable: false });
    fake.onInsert = ({ reply }, number) => reply(number === 0 ? ['unknown', 'not now'] : 'stored');
    await settled(rejects(add(1n), OutcomeUnknownError), add(2n));
    expect(fake.inserts.map(({ ids }) => ids)).to.deep.equal([[1n, 2n], [2n]]);
  });
});

it('The size of a plant is that of its name and its tag in bytes', () => {
  expect(sizeOf({ ...plant(1n, 'ü'.repeat(1_000)), tag: '木' })).to.be.within(2_003, 2_203);
});
