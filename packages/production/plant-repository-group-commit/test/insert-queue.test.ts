import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { InsertQueue } from '../src/insert-queue.js';
import { PendingPlant } from '../src/pending-plant.js';
import type { BatchLimits } from '../src/plant-database.js';
import { plant } from './support/database-with.js';
import { VirtualTime } from './support/virtual-time.js';

function pending(id: bigint): PendingPlant {
  return new PendingPlant(plant(id), {
    size: 100,
    deadline: 1_000,
    caller: undefined,
    settled() {},
  });
}

describe('An insert queue', () => {
  let queue: InsertQueue;
  /** The batches that were started, and how each steps aside and ends. */
  let started: {
    readonly plants: readonly PendingPlant[];
    readonly stepAside: () => void;
    readonly end: () => void;
  }[];

  function open(limits: BatchLimits): void {
    started = [];
    queue = new InsertQueue({
      database: { limits, maxTogether: 1_000 },
      store: (plants, stepAside) => new Promise((end) => started.push({ plants, stepAside, end })),
      clock: new VirtualTime(),
    });
  }

  it('forgets a plant that has expired while the maximum number of inserts is in flight', async () => {
    open({ maxInFlight: 1, maxAside: 0 });
    const [sent, expired, waiting] = [pending(1n), pending(2n), pending(3n)] as const;
    queue.push(sent);
    await nextTurn();
    queue.push(expired);
    queue.push(waiting);
    expired.giveUp('its time has passed');
    started[0]?.end();
    await nextTurn();
    expect(started.map(({ plants }) => plants)).to.deep.equal([[sent], [waiting]]);
  });

  it('lets a limited number of batches stand aside, until they end', async () => {
    open({ maxInFlight: 1, maxAside: 2 });
    const expectStarted = async (count: number) => {
      await nextTurn();
      expect(started).to.have.length(count);
      queue.push(pending(BigInt(count)));
    };
    await expectStarted(0);
    await expectStarted(1);
    started[0]?.stepAside();
    started[0]?.stepAside();
    await expectStarted(2);
    await expectStarted(2);
    started[1]?.stepAside();
    await expectStarted(3);
    started[2]?.stepAside();
    await expectStarted(3);
    started[0]?.end();
    await nextTurn();
    started[2]?.stepAside();
    await expectStarted(4);
  });
});
