import { expect } from 'chai';
import { InsertBatch } from '../src/insert-batch.js';
import { Patience } from '../src/patience.js';
import { PendingPlant } from '../src/pending-plant.js';
import { plant } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

describe('Patience', () => {
  let clock: VirtualTime;
  let patience: Patience;
  let givenWay: number[];

  beforeEach(() => {
    clock = new VirtualTime();
    patience = new Patience(20, 2);
    givenWay = [];
  });

  /** Sends an insert at a time, by which it is known. */
  function insertAt(at: number): InsertBatch {
    const pending = new PendingPlant({ plant: plant(1n), mark: 'mark' }, at, 60_000, undefined);
    const insert = new InsertBatch([pending], {
      ...{ clock, patience },
      overdue: (it) => patience.add(it),
      giveWay: () => givenWay.push(at),
    });
    clock.after(at, () => insert.send());
    return insert;
  }

  function end(insert: InsertBatch): void {
    insert.end();
    patience.ended(insert);
  }

  it('lets an insert give way when a later one has got its reply, and it is overdue', async () => {
    insertAt(0);
    const second = insertAt(1);
    clock.after(500, () => patience.replied(second, clock.now()));
    clock.after(999, () => expect(givenWay).to.deep.equal([]));
    clock.after(1_000, () => end(second));
    await clock.runOut(60_000);
    expect(givenWay).to.deep.equal([0]);
  });

  it('lets at most so many give way, and another one when one of them has ended', async () => {
    const first = insertAt(0);
    for (const at of [1, 2, 3]) insertAt(at);
    const last = insertAt(4);
    clock.after(1_500, () => patience.replied(last, clock.now()));
    clock.after(1_600, () => expect(givenWay).to.deep.equal([0, 1]));
    clock.after(2_000, () => end(first));
    clock.after(2_500, () => patience.replied(last, clock.now()));
    await clock.runOut(60_000);
    expect(givenWay).to.deep.equal([0, 1, 2]);
  });

  it('is greater with a slow storage', () => {
    expect([patience.overdueMs, patience.pauseMs]).to.deep.equal([1_000, 100]);
    const insert = insertAt(0);
    insert.send();
    patience.replied(insert, 8_000);
    expect([patience.overdueMs, patience.pauseMs, patience.repliedAt]).to.deep.equal([
      ...[16_000, 400, 8_000],
    ]);
  });
});
