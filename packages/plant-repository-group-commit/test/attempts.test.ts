import { expect } from 'chai';
import { Attempt, Attempts } from '../src/attempts.js';
import { PendingPlant } from '../src/pending-plant.js';
import { plant } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

describe('The attempts in flight', () => {
  let clock: VirtualTime;
  let attempts: Attempts;
  let released: number[];

  beforeEach(() => {
    clock = new VirtualTime();
    attempts = new Attempts(clock, { ordinary: 20, again: 20, stragglers: 2 }, () => undefined);
    released = [];
  });

  /** Sends an insert at a time, by which it is known. */
  function insertAt(at: number): Attempt {
    const times = { addedAt: at, deadline: at + 60_000 };
    const call = { ...times, size: 100, caller: undefined, settled: () => undefined };
    const pending = new PendingPlant(plant(1n), 'mark', call);
    const insert = new Attempt([pending], attempts, () => released.push(at));
    clock.after(at, () => insert.send());
    return insert;
  }

  it('lets an attempt that has timed out release its slot when a later one has got its reply', async () => {
    insertAt(0);
    const second = insertAt(1);
    clock.after(500, () => attempts.replied(second));
    clock.after(999, () => expect(released).to.deep.equal([]));
    clock.after(1_000, () => attempts.ended(second));
    await clock.runOut(60_000);
    expect(released).to.deep.equal([0]);
  });

  it('limits the stragglers, and lets another one release its slot when one of them has ended', async () => {
    const first = insertAt(0);
    for (const at of [1, 2, 3]) insertAt(at);
    const last = insertAt(4);
    clock.after(1_500, () => attempts.replied(last));
    clock.after(1_600, () => expect(released).to.deep.equal([0, 1]));
    clock.after(2_000, () => attempts.ended(first));
    clock.after(2_500, () => attempts.replied(last));
    await clock.runOut(60_000);
    expect(released).to.deep.equal([0, 1, 2]);
  });

  it('gives a slow storage more time', async () => {
    expect(attempts.pauseMs).to.equal(100);
    const insert = insertAt(0);
    clock.after(8_000, () => attempts.replied(insert));
    await clock.runOut(60_000);
    expect(attempts.pauseMs).to.equal(400);
    for (const pending of insert.plants) pending.maxTogether = 1;
    expect(attempts.timeLimitMs(insert.plants)).to.equal(32_000);
  });
});
