import { expect } from 'chai';
import { Insert, Patience } from '../src/patience.js';
import { PendingPlant } from '../src/pending-plant.js';
import { plant } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

describe('Patience', () => {
  let clock: VirtualTime;
  let patience: Patience;
  let givenWay: number[];

  beforeEach(() => {
    clock = new VirtualTime();
    patience = new Patience(clock, { ordinary: 20, again: 20, overtaken: 2 }, () => undefined);
    givenWay = [];
  });

  /** Sends an insert at a time, by which it is known. */
  function insertAt(at: number): Insert {
    const call = { addedAt: at, deadline: at + 60_000, caller: undefined };
    const pending = new PendingPlant({ plant: plant(1n), mark: 'mark' }, call, () => undefined);
    const insert = new Insert([pending], patience, () => givenWay.push(at));
    clock.after(at, () => insert.send());
    return insert;
  }

  it('lets an insert give way when a later one has got its reply, and it is overdue', async () => {
    insertAt(0);
    const second = insertAt(1);
    clock.after(500, () => patience.replied(second));
    clock.after(999, () => expect(givenWay).to.deep.equal([]));
    clock.after(1_000, () => patience.ended(second));
    await clock.runOut(60_000);
    expect(givenWay).to.deep.equal([0]);
  });

  it('lets at most so many give way, and another one when one of them has ended', async () => {
    const first = insertAt(0);
    for (const at of [1, 2, 3]) insertAt(at);
    const last = insertAt(4);
    clock.after(1_500, () => patience.replied(last));
    clock.after(1_600, () => expect(givenWay).to.deep.equal([0, 1]));
    clock.after(2_000, () => patience.ended(first));
    clock.after(2_500, () => patience.replied(last));
    await clock.runOut(60_000);
    expect(givenWay).to.deep.equal([0, 1, 2]);
  });

  it('is greater with a slow storage', async () => {
    expect(patience.pauseMs).to.equal(100);
    const insert = insertAt(0);
    clock.after(8_000, () => patience.replied(insert));
    await clock.runOut(60_000);
    expect(patience.pauseMs).to.equal(400);
    for (const pending of insert.plants) pending.maxTogether = 1;
    expect(insert.timeLimitMs).to.equal(32_000);
  });
});
