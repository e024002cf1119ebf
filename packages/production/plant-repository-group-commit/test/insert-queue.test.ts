import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Batch, PendingPlant } from '../src/batch.js';
import { InsertQueue } from '../src/insert-queue.js';
import { AVAILABLE, databaseWith, plant } from './support/database-with.js';
import { VirtualTime } from './support/virtual-time.js';

const pending = (id: bigint) =>
  new PendingPlant({
    plant: plant(id),
    size: 100,
    deadline: 1_000,
    caller: undefined,
    settled() {},
  });

describe('An insert queue', () => {
  let queue: InsertQueue;
  let clock: VirtualTime;
  let added: PendingPlant[];
  let started: Batch[];

  beforeEach(() => {
    clock = new VirtualTime();
    added = [];
    started = [];
    const database = databaseWith({ limits: { maxInFlight: 1 } });
    const options = { database, availability: AVAILABLE, observer() {}, clock };
    const start = (plants: readonly PendingPlant[]) => {
      const batch = new Batch(plants, options);
      started.push(batch);
      return batch;
    };
    queue = new InsertQueue({ database, clock, start });
  });

  /** Adds a plant. Resolves with how many batches have been started by then. */
  async function add(): Promise<number> {
    const it = pending(BigInt(added.length));
    added.push(it);
    queue.push(it);
    await nextTurn();
    return started.length;
  }

  it('forgets a plant that has expired while the maximum number of inserts is in flight', async () => {
    for (const expected of [1, 1, 1]) expect(await add()).to.equal(expected);
    added[1]?.giveUp('its time has passed');
    queue.leave(started[0] ?? expect.fail());
    expect(started.map(({ size }) => size)).to.deep.equal([1, 1]);
  });

  it('lets as many batches stand aside as may be in flight', async () => {
    await add();
    added[0]?.giveUp('its time has passed');
    expect(await add()).to.equal(1);
    queue.start();
    expect(started).to.have.length(2);
    added[1]?.giveUp('its time has passed');
    await add();
    queue.start();
    expect(started).to.have.length(2);
    queue.leave(started[0] ?? expect.fail());
    expect(started).to.have.length(3);
  });

  it('sends a batch again when there is a place, and at once when its callers have gone', async () => {
    const first = await add().then(() => started[0] ?? expect.fail());
    queue.leave(first);
    expect(queue.sendsAgain(first)).to.equal(true);
    const second = await add().then(() => started[1] ?? expect.fail());
    queue.leave(second);
    expect(queue.sendsAgain(second)).to.equal(false);
    queue.leave(first);
    expect(queue.sendsAgain(second)).to.equal(true);
    queue.leave(second);
    const third = await add().then(() => started[2] ?? expect.fail());
    expect(queue.sendsAgain(first)).to.equal(true);
    added[2]?.giveUp('its time has passed');
    expect(queue.sendsAgain(third)).to.equal(true);
  });
});
