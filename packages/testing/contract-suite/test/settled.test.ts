import { rejects } from 'node:assert/strict';
import { errorOf, inTime, until } from '@plant-store/contract-suite';
import { expect } from 'chai';

describe('A call with a time limit', () => {
  it('settles in time, and leaves no timer that keeps the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    await new Promise(setImmediate);
    const before = timers();
    const error = new Error('why');
    expect(await errorOf(inTime(Promise.reject(error), 1, 'it'))).to.equal(error);
    expect(await errorOf(Promise.resolve('a result'))).to.equal(undefined);
    expect(await errorOf(Promise.reject(undefined))).to.be.an('error');
    expect(timers()).to.be.at.most(before);
  });

  it('fails the test if it does not settle in time', async () => {
    const never = (limit: number) => errorOf(inTime(new Promise(() => {}), limit, 'add'));
    const late = 'add has not settled 2000 ms after its limit of';
    // Even a busy machine leaves some of a second idle.
    await rejects(never(-1_000), { message: `${late} -1000 ms` });
    const blocked = never(-1_950);
    // Long compared with the idle time that a starved machine adds.
    const end = performance.now() + 1_000;
    while (performance.now() < end);
    const message = `${late} -1950 ms: the event loop was hardly ever idle, something blocks it`;
    await rejects(blocked, { message });
  });
});

it('A condition is awaited longer while a busy machine stalls the process', async () => {
  let attempts = 0;
  const hold = () => {
    const end = performance.now() + 300;
    while (performance.now() < end);
  };
  const attempt = async () => {
    setImmediate(hold);
    attempts += 1;
    return attempts === 4;
  };
  await until(attempt, () => 'it never holds', 500);
  expect(attempts).to.equal(4);
});
