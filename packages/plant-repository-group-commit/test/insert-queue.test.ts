import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { InsertQueue } from '../src/insert-queue.js';
import { PendingPlant } from '../src/pending-plant.js';
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
  it('forgets a plant that has expired while the maximum number of inserts is in flight', async () => {
    const inserts: (readonly PendingPlant[])[] = [];
    const release: (() => void)[] = [];
    const queue = new InsertQueue({
      database: { limits: { maxInFlight: 1, maxAside: 0 }, maxTogether: 1_000 },
      store(plants) {
        inserts.push(plants);
        return new Promise((resolve) => release.push(resolve));
      },
      clock: new VirtualTime(),
    });
    const [sent, expired, waiting] = [pending(1n), pending(2n), pending(3n)] as const;
    queue.push(sent);
    await nextTurn();
    queue.push(expired);
    queue.push(waiting);
    expired.giveUp('its time has passed');
    release[0]?.();
    await nextTurn();
    expect(inserts).to.deep.equal([[sent], [waiting]]);
  });
});
