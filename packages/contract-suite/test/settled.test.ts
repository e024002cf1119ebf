import { rejects } from 'node:assert/strict';
import { errorOf, inTime, until } from '@plant-store/contract-suite';
import { expect } from 'chai';

const never = new Promise<never>(() => {});

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

  it('fails a test when it does not settle in time', async () => {
    await rejects(errorOf(inTime(never, -2_000, 'add of plant 7')), {
      message: 'add of plant 7 has not settled 2000 ms after its limit of -2000 ms',
    });
  });
});

describe('A condition', () => {
  it('is awaited until it holds, within its limit', async () => {
    let attempts = 0;
    await until(
      async () => ++attempts === 3,
      () => 'never',
    );
    expect(attempts).to.equal(3);
    await rejects(
      until(
        async () => false,
        () => 'never',
        1,
      ),
      { message: 'never' },
    );
  });
});
