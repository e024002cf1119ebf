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
});
