import { once } from 'node:events';
import { createServer } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';

const TIME_LIMIT_MS = 60_000;

describe('A server that is drained', () => {
  const { setImmediate } = globalThis;
  let turns: number;

  beforeEach(() => {
    turns = 0;
  });

  afterEach(() => {
    Object.assign(globalThis, { setImmediate });
    Reflect.deleteProperty(performance, 'now');
  });

  /** Counts the turns of the event loop for which the server waits, and calls `act` in each. */
  function countTurns(act: () => void): void {
    Object.assign(globalThis, {
      setImmediate: (next: () => void) => {
        turns += 1;
        act();
        return setImmediate(next);
      },
    });
  }

  async function listening() {
    const server = createServer(new Koa()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  it('accepts connections until three turns are without one', async () => {
    const server = await listening();
    countTurns(() => {
      if (turns === 2) server.emit('drop');
    });
    await server.drain(TIME_LIMIT_MS);
    expect(turns).to.equal(5);
    expect(server.listenerCount('drop')).to.equal(0);
  });

  it('accepts connections for one second at most', async () => {
    const server = await listening();
    performance.now = () => turns * 100;
    countTurns(() => server.emit('drop'));
    await server.drain(TIME_LIMIT_MS);
    expect(turns).to.equal(10);
  });
});
