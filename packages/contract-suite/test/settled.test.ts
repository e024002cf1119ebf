import { rejects } from 'node:assert/strict';
import { errorOf, inTime, until } from '@plant-store/contract-suite';
import { expect } from 'chai';

describe('A call', () => {
  it('settles in time, and then keeps no process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    await new Promise(setImmediate);
    const before = timers();
    const error = new Error('why');
    expect(await errorOf(inTime(Promise.reject(error), 1, 'it'))).to.equal(error);
    expect(await errorOf(Promise.resolve('a result'))).to.equal(undefined);
    expect(timers()).to.be.at.most(before);
  });

  it('fails a test when it does not settle in time, and when the event loop is blocked', async () => {
    const never = () => errorOf(inTime(new Promise(() => {}), -1_950, 'add of plant 7'));
    const late = 'add of plant 7 has not settled 2000 ms after its limit of -1950 ms';
    await rejects(never(), { message: late });
    const blocked = never();
    const end = performance.now() + 60;
    while (performance.now() < end);
    const message = `${late}: the event loop was hardly ever idle, something blocks it`;
    await rejects(blocked, { message });
  });
});

it('A condition is awaited until it holds, within its limit', async () => {
  let attempts = 0;
  const never = () => 'it never holds';
  await until(async () => ++attempts === 3, never);
  expect(attempts).to.equal(3);
  const waiting = until(async () => false, never, 1);
  await rejects(waiting, { message: never() });
});
