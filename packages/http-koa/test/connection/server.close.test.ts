import { once } from 'node:events';
import { createServer } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';

describe('A server that is closed', () => {
  const real = { setInterval, clearInterval };
  afterEach(() => Object.assign(globalThis, real));

  it('no longer looks after the time limits of its connections', async () => {
    const intervals = new Map<NodeJS.Timeout, number>();
    Object.assign(globalThis, {
      setInterval: (act: () => void, ms: number) => {
        const timer = real.setInterval(act, ms);
        intervals.set(timer, ms);
        return timer;
      },
      clearInterval: (timer: NodeJS.Timeout) => {
        intervals.delete(timer);
        real.clearInterval(timer);
      },
    });
    const server = createServer(new Koa()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect([...intervals.values()]).to.deep.equal([500]);
    await once(server.close(), 'close');
    expect(intervals).to.have.property('size', 0);
  });
});
