import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  OutcomeUnknownError,
  PlantIdTakenError,
  type StorageEvent,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { MongoServerError, ObjectId } from 'mongodb';
import { toDocument } from '../../src/collection/plant-document.js';
import { GroupCommit } from '../../src/group-commit/group-commit.js';
import { type FakeAttempt, FakePlantCollection } from '../support/fake-plant-collection.js';
import { plant } from '../support/plant.js';
import { VirtualTime } from '../support/virtual-time.js';

const AMPLE = 5_000;
const BRIEF = 40;
const DUPLICATE = { index: 0, code: 11000 };
const REFUSED = { index: 0, code: 121, errmsg: 'not this: { name: "plant 2" }' };

interface Limits {
  readonly pending?: number;
  readonly items?: number;
  readonly bytes?: number;
}

function open({ pending = 100, items = 10, bytes = 100_000 }: Limits = {}) {
  const collection = new FakePlantCollection();
  const events: StorageEvent[] = [];
  const limits = { pending, batch: { items, bytes } };
  const plants = new GroupCommit(collection, limits, (event) => events.push(event));
  const add = (id: bigint, timeLimit = AMPLE) => plants.add(toDocument(plant(id)), timeLimit);
  return { collection, events, plants, add };
}

/** With batches of one and of three plants under way, so that a further plant waits. */
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

  it('start at the end of the turn when others are under way, with what was added until then', async () => {
    const { collection, add } = open();
    for (const id of [1n, 2n, 3n]) void add(id);
    expect(collection.attempts).to.have.length(1);
    expect((await collection.attempt(1)).ids).to.deep.equal([2n, 3n]);
  });

  it('wait while they would be less than half of what is under way', async () => {
    const { collection, add, second } = await openBusy();
    void add(1n);
    await nextTurn();
    expect(collection.attempts).to.have.length(2);
    second.reply();
    expect((await collection.attempt(2)).ids).to.deep.equal([1n]);
  });

  it('are four at most', async () => {
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

  it('hold no more plants than they may', async () => {
    const { collection, add } = open({ items: 2 });
    for (const id of [0n, 1n, 2n, 3n]) void add(id);
    (await collection.attempt(0)).reply();
    expect((await collection.attempt(1)).ids).to.deep.equal([1n, 2n]);
  });

  it('hold no more bytes than they may, but always one plant', async () => {
    const { collection, add } = open({ bytes: 1 });
    for (const id of [0n, 1n, 2n]) void add(id);
    (await collection.attempt(0)).reply();
    expect((await collection.attempt(1)).ids).to.deep.equal([1n]);
  });

  it('are reported with what became of their plants', async () => {
    const { collection, events, add } = open();
    const adding = add(1n);
    (await collection.attempt(0)).reply();
    await adding;
    await collection.attempt(0);
    expect(events).to.have.length(1);
    expect(events[0]).to.include({ type: 'batch written', plants: 1 });
  });
});

describe('A plant that is added', () => {
  it('is refused when too many wait already', async () => {
    const { add } = open({ pending: 2 });
    void add(1n);
    void add(2n);
    await rejects(add(3n), StorageUnavailableError);
  });

  it('finds room again when another one has come to its end', async () => {
    const { collection, add } = open({ pending: 1 });
    const first = add(1n);
    (await collection.attempt(0)).reply();
    await first;
    const second = add(2n);
    (await collection.attempt(1)).reply();
    await second;
  });

  it('is refused by the database alone, with an alert, and the others are stored', async () => {
    const { collection, events, add } = open();
    const [first, bad, good] = [add(1n), add(2n), add(3n)];
    (await collection.attempt(0)).reply();
    (await collection.attempt(1)).reply({ writeErrors: [REFUSED] });
    await Promise.all([first, good]);
    await rejects(bad, { name: 'Error' });
    const reason = 'the validator of the collection refuses the plant';
    expect(events).to.deep.include({ type: 'plant refused', id: 2n, code: 121, reason });
  });

  it('is refused with one alert when its batch has a duplicate too', async () => {
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

  it('is refused, not taken, when another unique index has its keys', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    const writeErrors = [{ ...DUPLICATE, keyPattern: { name: 1 } }];
    (await collection.attempt(0)).reply({ writeErrors });
    await rejects(adding, { name: 'Error' });
    expect(collection.readBacks).to.equal(0);
  });

  it('that is no document harms no other', async () => {
    const { collection, plants, add } = open();
    const good = add(1n);
    const bad = { ...toDocument(plant(2n)), name: undefined as unknown as string };
    await rejects(plants.add(bad, AMPLE), TypeError);
    (await collection.attempt(0)).reply();
    await good;
    expect(collection.attempts).to.have.length(1);
  });

  it('is unavailable at once when the database denies the insert', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    (await collection.attempt(0)).fail(new MongoServerError({ message: 'no', code: 13, ok: 0 }));
    await rejects(adding, StorageUnavailableError);
  });

  it('is unavailable at once when it has no time', async () => {
    const { collection, add } = open();
    await rejects(add(1n, 0), StorageUnavailableError);
    expect(collection.attempts).to.have.length(0);
  });
});

describe('After an unclear insert a plant', () => {
  it('is inserted again before all others, with the same mark and more time', async () => {
    const { collection, add, underWay, first, second } = await openBusy();
    const adding = add(1n);
    first.fail();
    const third = await collection.attempt(2);
    second.reply();
    third.reply();
    await Promise.all([...underWay, adding]);
    expect(third.ids).to.deep.equal([101n, 1n]);
    expect(third.documents[0]).to.equal(first.documents[0]);
    expect(third.timeLimit).to.be.greaterThan(first.timeLimit);
  });

  it('shares its insert with half as many others each time, until a reply comes', async () => {
    const { collection, add } = open();
    const first = add(0n);
    const others = [1n, 2n, 3n, 4n].map((id) => add(id));
    (await collection.attempt(0)).reply();
    (await collection.attempt(1)).fail();
    (await collection.attempt(2)).fail();
    const halves = [await collection.attempt(3), await collection.attempt(4)];
    const ids = collection.attempts.map((attempt) => attempt.ids.length);
    for (const half of halves) half.fail();
    for (const number of [5, 6, 7, 8]) (await collection.attempt(number)).reply();
    await Promise.all([first, ...others]);
    expect(ids).to.deep.equal([1, 4, 4, 2, 2]);
    expect(collection.attempts.slice(5).map((attempt) => attempt.ids)).to.have.deep.members([
      ...[[1n], [2n], [3n], [4n]],
    ]);
  });

  it('is stored when the document with its id has its own mark', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    const first = await collection.attempt(0);
    collection.kept.set(1n, first.documents[0]?.mark);
    first.reply({ writeConcernError: new Error('timed out') });
    (await collection.attempt(1)).reply({ writeErrors: [DUPLICATE] });
    await adding;
  });

  it('is taken when the document with its id has the mark of another', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    collection.kept.set(1n, new ObjectId());
    (await collection.attempt(0)).fail();
    (await collection.attempt(1)).reply({ writeErrors: [DUPLICATE] });
    await rejects(adding, PlantIdTakenError);
  });

  it('is looked up, not refused, when the database has learned to refuse it', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    const first = await collection.attempt(0);
    collection.kept.set(1n, first.documents[0]?.mark);
    first.fail();
    (await collection.attempt(1)).reply({ writeErrors: [REFUSED] });
    await adding;
  });

  it('goes on when the next insert is denied', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    (await collection.attempt(0)).fail();
    (await collection.attempt(1)).fail(new MongoServerError({ message: 'no', code: 13, ok: 0 }));
    (await collection.attempt(2)).reply();
    await adding;
  });
});

describe('After a duplicate key a plant', () => {
  it('is taken when a document without a mark has its id', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    collection.kept.set(1n, undefined);
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    await rejects(adding, PlantIdTakenError);
  });

  it('is inserted again when no majority keeps the other one', async () => {
    const { collection, add } = open();
    const adding = add(1n);
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    (await collection.attempt(1)).reply();
    await adding;
    expect(collection.readBacks).to.equal(1);
  });

  it('is looked up until the database responses', async () => {
    const { collection, add } = open();
    collection.failingReadBacks = 2;
    collection.kept.set(1n, new ObjectId());
    const adding = add(1n);
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    await rejects(adding, PlantIdTakenError);
    expect(collection.readBacks).to.equal(3);
  });

  it('is unavailable at its deadline while no majority keeps the other one', async () => {
    const { collection, add } = open();
    collection.failingReadBacks = Number.POSITIVE_INFINITY;
    const adding = add(1n, BRIEF);
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    await rejects(adding, StorageUnavailableError);
  });
});

describe('At its deadline a plant', () => {
  it('is unknown when its insert was sent', async () => {
    const { collection, add } = open();
    const message = 'the outcome was not known in time';
    await rejects(add(1n, BRIEF), { name: 'OutcomeUnknownError', message });
    expect(collection.attempts[0]).to.have.property('aborted', false);
  });

  it('is unknown when an earlier insert of it was sent', async () => {
    const { collection, add } = open();
    const adding = add(1n, BRIEF);
    collection.sends = false;
    (await collection.attempt(0)).fail();
    await rejects(adding, OutcomeUnknownError);
  });

  it('is taken back when its insert was not sent, and then unavailable', async () => {
    const { collection, add } = open();
    collection.sends = false;
    const message = 'the plant was not stored';
    await rejects(add(1n, BRIEF), { name: 'StorageUnavailableError', message });
    expect(collection.attempts[0]).to.have.property('aborted', true);
  });

  it('is unavailable while it waits behind others, and never sent', async () => {
    const { collection, add, underWay, first, second } = await openBusy();
    await rejects(add(1n, BRIEF), StorageUnavailableError);
    const adding = add(2n);
    first.reply();
    second.reply();
    const third = await collection.attempt(2);
    third.reply();
    await Promise.all([...underWay, adding]);
    expect(third.ids).to.deep.equal([2n]);
  });

  it('does not take the others of its batch with it', async () => {
    const { collection, add } = open();
    const first = add(1n);
    collection.sends = false;
    const [brief, patient] = [add(2n, BRIEF), add(3n)];
    (await collection.attempt(0)).reply();
    await rejects(brief, StorageUnavailableError);
    const third = await collection.attempt(2);
    third.reply();
    await Promise.all([first, patient]);
    expect(third.ids).to.deep.equal([3n]);
  });

  it('names the last failure as the cause', async () => {
    const { collection, add } = open();
    const adding = add(1n, BRIEF);
    const failure = new Error('connection lost');
    (await collection.attempt(0)).fail(failure);
    await rejects(adding, { cause: failure });
  });

  it('names a look-up that failed as the cause', async () => {
    const { collection, add } = open();
    collection.failingReadBacks = Number.POSITIVE_INFINITY;
    const adding = add(1n, BRIEF);
    (await collection.attempt(0)).reply({ writeErrors: [DUPLICATE] });
    await rejects(adding, { name: 'StorageUnavailableError', cause: new Error('no response') });
  });

  it('names a write concern that was not met as the cause', async () => {
    const { collection, add } = open();
    const adding = add(1n, BRIEF);
    const writeConcernError = new Error('waiting for replication timed out');
    (await collection.attempt(0)).reply({ writeConcernError });
    await rejects(adding, { name: 'OutcomeUnknownError', cause: writeConcernError });
  });
});

describe('Closing', () => {
  it('waits for what is under way, and takes no more', async () => {
    const { collection, plants, add } = open();
    const adding = add(1n);
    const closing = plants.close();
    await rejects(add(2n), StorageUnavailableError);
    (await collection.attempt(0)).reply();
    await Promise.all([adding, closing, plants.close()]);
  });

  it('leaves no timer behind', async () => {
    const time = new VirtualTime();
    time.install();
    try {
      const { collection, plants, add } = open();
      const adding = add(1n);
      (await collection.attempt(0)).reply();
      await adding;
      await plants.close();
      await time.runOut(0);
    } finally {
      time.uninstall();
    }
  });

  const unfinished: Record<string, (attempt: FakeAttempt) => void> = {
    'another insert': (attempt) => attempt.fail(),
    'another look at what a majority keeps': (attempt) =>
      attempt.reply({ writeErrors: [DUPLICATE] }),
  };

  for (const [what, end] of Object.entries(unfinished)) {
    it(`ends the pause before ${what}`, async () => {
      const time = new VirtualTime();
      time.install();
      try {
        const { collection, plants, add } = open();
        const adding = rejects(add(1n, BRIEF));
        end(await collection.attempt(0));
        const closing = plants.close();
        await time.runOut(BRIEF);
        await Promise.all([adding, closing]);
      } finally {
        time.uninstall();
      }
    });
  }

  it('waits no longer than the deadlines', async () => {
    const { plants, add } = open();
    const adding = rejects(add(1n, BRIEF), OutcomeUnknownError);
    await plants.close();
    await adding;
  });
});
