import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { MongoServerError, ObjectId } from 'mongodb';
import { toDocument } from '../../src/collection/plant-document.js';
import type { StorageEvent } from '../../src/collection/storage-event.js';
import type { BatchTracer } from '../../src/group-commit/batch-tracer.js';
import { GroupCommit } from '../../src/group-commit/group-commit.js';
import { FakePlantCollection } from '../support/fake-plant-collection.js';
import { plant } from '../support/plant.js';
import { VirtualTime } from '../support/virtual-time.js';

const LONG_LIMIT_MS = 5_000;
const SHORT_LIMIT_MS = 40;
const DUPLICATE = { index: 0, code: 11000 };
const REFUSED = { index: 0, code: 121, errmsg: 'not this: { name: "plant 2" }' };

interface Given {
  readonly maxItems?: number;
  readonly maxBytes?: number;
  readonly tracer?: BatchTracer;
  readonly clock?: VirtualTime;
}

function open({ maxItems = 10, maxBytes = 100_000, tracer, clock }: Given = {}) {
  const collection = new FakePlantCollection();
  const events: StorageEvent[] = [];
  const limits = { maxPending: 100, batch: { maxItems, maxBytes } };
  const observe = (event: StorageEvent) => events.push(event);
  const plants = new GroupCommit(collection, limits, observe, tracer, clock);
  const add = (id: bigint, timeLimitMs = LONG_LIMIT_MS) =>
    plants.add(toDocument(plant(id)), timeLimitMs);
  return { collection, events, plants, add };
}

/** Opens with batches of one and three plants under way, so that a further plant waits. */
async function openBusy() {
  const opened = open();
  const underWay = [101n, 102n, 103n, 104n].map((id) => opened.add(id));
  const second = await opened.collection.attempt(1);
  return { ...opened, underWay, first: await opened.collection.attempt(0), second };
}

describe('Batches', () => {
  it('start at once when nothing is under way', () => {
    const { collection, add } = open();
    void add(1n);
    expect(collection.attempts).to.have.length(1);
  });

  it('start at the end of the turn, with all plants added until then, when others are under way', async () => {
    const { collection, add } = open();
    for (const id of [1n, 2n, 3n]) void add(id);
    expect(collection.attempts).to.have.length(1);
    expect((await collection.attempt(1)).ids).to.deep.equal([2n, 3n]);
  });

  it('wait until they have at least half as many plants as the batches under way', async () => {
    const { collection, add, second } = await openBusy();
    void add(1n);
    await nextTurn();
    expect(collection.attempts).to.have.length(2);
    second.reply();
    expect((await collection.attempt(2)).ids).to.deep.equal([1n]);
  });

  it('run four at a time at most', async () => {
    const { collection, add, first } = await openBusy();
    for (let id = 1n; id <= 2n; id += 1n) void add(id);
    await collection.attempt(2);
    for (let id = 3n; id <= 5n; id += 1n) void add(id);
    await collection.attempt(3);
    for (let id = 6n; id <= 15n; id += 1n) void add(id);
    await nextTurn();
    expect(collection.attempts).to.have.length(4);
    first.reply();
    expect((await collection.attempt(4)).ids).to.have.length(10);
  });

  it('have at most `maxBytes` bytes, but always at least one plant', async () => {
    const { collection, add } = open({ maxBytes: 1 });
    for (const id of [0n, 1n, 2n]) void add(id);
    (await collection.attempt(0)).reply();
    expect((await collection.attempt(1)).ids).to.deep.equal([1n]);
  });

  it('are reported with their duration and failure', async () => {
    const clock = new VirtualTime();
    const { collection, events, add } = open({ clock });
    const adding = rejects(add(1n, SHORT_LIMIT_MS));
    const failure = new Error('connection lost');
    clock.after(30, () => collection.attempts[0]?.fail(failure));
    await clock.runOut(2 * SHORT_LIMIT_MS);
    await adding;
    expect(events).to.deep.equal([{ type: 'batch written', plants: 1, durationMs: 30, failure }]);
  });

  it('are retried after 50 ms', async () => {
    const clock = new VirtualTime();
    const { collection, add } = open({ clock });
    const adding = add(1n);
    const second = collection.attempt(1).then((attempt) => {
      attempt.reply();
      return clock.now();
    });
    collection.attempts[0]?.fail();
    await clock.runOut(LONG_LIMIT_MS);
    expect(await second).to.equal(50);
    await adding;
  });

  it('are shown to the tracer with their callers', async () => {
    const runs: unknown[] = [];
    let caller = 0;
    const tracer: BatchTracer = {
      caller: () => {
        caller += 1;
        return caller;
      },
      run(name, callers, command) {
        runs.push([name, ...callers]);
        return command();
      },
    };
    const { collection, add } = open({ tracer });
    const adding = [1n, 2n, 3n].map((id) => add(id));
    collection.kept.set(1n, new ObjectId());
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    (await collection.attempt(1)).reply();
    const outcomes = await Promise.allSettled(adding);
    expect(outcomes.map(({ status }) => status)).to.deep.equal([
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(runs).to.have.deep.members([
      ['insert plants', 1],
      ['insert plants', 2, 3],
      ['read back plants', 1],
    ]);
  });
});

describe('A tracer', () => {
  const faults: Record<string, BatchTracer> = {
    throws: {
      caller() {
        throw new Error('no span');
      },
      run() {
        throw new Error('no span');
      },
    },
    rejects: { caller: () => 1, run: () => Promise.reject(new Error('no span')) },
    'calls late': {
      caller: () => 1,
      run: async (_name, _callers, command) => {
        await nextTurn();
        return command();
      },
    },
    'never calls': { caller: () => 1, run: () => new Promise(() => undefined) },
  };

  for (const [fault, tracer] of Object.entries(faults)) {
    it(`that ${fault} costs nothing but the trace`, async () => {
      const { collection, add } = open({ tracer });
      const adding = add(1n);
      expect(collection.attempts).to.have.length(1);
      collection.attempts[0]?.reply();
      await adding;
      await nextTurn();
      expect(collection.attempts).to.have.length(1);
    });
  }
});

describe('A plant that is added', () => {
  it('causes one alert when the database refuses it and its batch has a duplicate too', async () => {
    const { collection, events, add } = open();
    const [first, bad, taken] = [add(1n), add(2n), add(3n)];
    collection.kept.set(3n, new ObjectId());
    (await collection.attempt(0)).reply();
    (await collection.attempt(1)).reply({ writeErrors: [REFUSED, { ...DUPLICATE, index: 1 }] });
    await first;
    await rejects(bad, { name: 'Error' });
    await rejects(taken, PlantIdTakenError);
    const alerts = events.filter(({ type }) => type === 'plant refused');
    expect(alerts.map((alert) => 'id' in alert && alert.id)).to.deep.equal([2n]);
  });

  it('that is invalid does not affect others', async () => {
    const { collection, plants, add } = open();
    const good = add(1n);
    const bad = { ...toDocument(plant(2n)), name: undefined as unknown as string };
    await rejects(plants.add(bad, LONG_LIMIT_MS), TypeError);
    (await collection.attempt(0)).reply();
    await good;
    expect(collection.attempts).to.have.length(1);
  });
});

describe('After an unclear insert a plant', () => {
  it('is inserted again with the same mark, at once although others wait', async () => {
    const { collection, add, underWay, first, second } = await openBusy();
    const adding = add(1n);
    first.fail();
    const retry = await collection.attempt(2);
    expect(retry.ids).to.deep.equal([101n]);
    expect(retry.send()[0]).to.equal(first.send()[0]);
    for (const attempt of [second, retry]) attempt.reply();
    (await collection.attempt(3)).reply();
    await Promise.all([...underWay, adding]);
  });

  it('is inserted with a sixteenth of its batch each time; the server gets a second, and three when it was alone', async () => {
    const { collection, add } = open({ maxItems: 64 });
    const adding = [0n, ...Array.from({ length: 64 }, (_, id) => BigInt(id + 1))].map((id) =>
      add(id),
    );
    (await collection.attempt(0)).reply();
    (await collection.attempt(1)).fail();
    for (let number = 2; number < 146; number += 1) {
      const attempt = await collection.attempt(number);
      if (number < 82) attempt.fail();
      else attempt.reply();
    }
    await Promise.all(adding);
    const shapes = collection.attempts.map(
      ({ ids, timeLimitMs }) => `${ids.length} in ${timeLimitMs}`,
    );
    expect(shapes).to.have.members([
      ...['1 in 1000', '64 in 1000'],
      ...Array(16).fill('4 in 1000'),
      ...Array(64).fill('1 in 1000'),
      ...Array(64).fill('1 in 3000'),
    ]);
  });

  it('that is alone takes turns with the others', async () => {
    const { collection, add } = open({ maxItems: 1 });
    const adding = Array.from({ length: 18 }, (_, id) => add(BigInt(id)));
    for (let number = 0; number < 100; number += 1) (await collection.attempt(number)).fail();
    const ids = collection.attempts.slice(0, 100).flatMap((attempt) => attempt.ids);
    for (let id = 0n; id < 18n; id += 1n) {
      expect(ids.filter((it) => it === id)).to.have.lengthOf.above(1);
    }
    for (let number = 100; number < 118; number += 1) (await collection.attempt(number)).reply();
    await Promise.all(adding);
  });

  it('is stored when the document with its id has its own mark', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    const first = await collection.attempt(0);
    collection.kept.set(1n, first.send()[0]?.mark);
    first.reply({ writeConcernError: new Error('timed out') });
    (await collection.attempt(1)).reply({ writeErrors: [DUPLICATE] });
    await adding;
  });

  it('is read back, not rejected, when the database refuses the next insert', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    const first = await collection.attempt(0);
    collection.kept.set(1n, first.send()[0]?.mark);
    first.fail();
    (await collection.attempt(1)).reply({ writeErrors: [REFUSED] });
    await adding;
  });

  it('is inserted again when the next insert is denied', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    (await collection.attempt(0)).fail();
    (await collection.attempt(1)).fail(new MongoServerError({ message: 'no', code: 13, ok: 0 }));
    (await collection.attempt(2)).reply();
    await adding;
  });
});

describe('After a duplicate key a plant', () => {
  it('is read back until the database responds', async () => {
    const { collection, add } = open();
    collection.failingReadBacks = 2;
    collection.kept.set(1n, new ObjectId());
    const adding = rejects(add(1n), PlantIdTakenError);
    for (const number of [0, 1, 2]) {
      (await collection.attempt(number)).reply({ writeErrors: [DUPLICATE] });
    }
    await adding;
    expect(collection.readBackLimits).to.deep.equal([1000, 1000, 1000]);
  });
});

describe('At its deadline a plant', () => {
  it('is unknown when an earlier insert of it was sent', async () => {
    const { collection, add } = open();
    const adding = add(1n, SHORT_LIMIT_MS);
    collection.sends = false;
    (await collection.attempt(0)).fail();
    await rejects(adding, OutcomeUnknownError);
  });

  it('is unavailable when its insert was not sent, and is never sent', async () => {
    const { collection, add } = open();
    collection.sends = false;
    const message = 'the plant was not stored';
    await rejects(add(1n, SHORT_LIMIT_MS), { name: 'StorageUnavailableError', message });
    expect(collection.attempts[0]?.send()).to.deep.equal([]);
  });

  it('is unavailable when it waits for other batches, and is never sent', async () => {
    const { collection, add, underWay, first, second } = await openBusy();
    await rejects(add(1n, SHORT_LIMIT_MS), StorageUnavailableError);
    const adding = add(2n);
    first.reply();
    second.reply();
    const third = await collection.attempt(2);
    third.reply();
    await Promise.all([...underWay, adding]);
    expect(third.ids).to.deep.equal([2n]);
  });

  it('expires without the others of its batch', async () => {
    const { collection, add } = open();
    const first = add(1n);
    collection.sends = false;
    const [short, long] = [add(2n, SHORT_LIMIT_MS), add(3n)];
    (await collection.attempt(0)).reply();
    await rejects(short, StorageUnavailableError);
    const second = await collection.attempt(1);
    expect(second.ids).to.deep.equal([3n]);
    second.reply();
    await Promise.all([first, long]);
  });

  it('is rejected with the last failure as the cause', async () => {
    const { collection, add } = open();
    const adding = add(1n, SHORT_LIMIT_MS);
    const failure = new Error('connection lost');
    (await collection.attempt(0)).fail(failure);
    await rejects(adding, { cause: failure });
  });

  it('is rejected with an unmet write concern as the cause', async () => {
    const { collection, add } = open();
    const adding = add(1n, SHORT_LIMIT_MS);
    const writeConcernError = new Error('waiting for replication timed out');
    (await collection.attempt(0)).reply({ writeConcernError });
    await rejects(adding, { name: 'OutcomeUnknownError', cause: writeConcernError });
  });
});
