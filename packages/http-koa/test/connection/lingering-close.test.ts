import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { lingeringClose } from '../../src/connection/lingering-close.js';

interface Timer {
  readonly ms: number;
  readonly act: () => void;
}

describe('A lingering close', () => {
  const real = { setTimeout, clearTimeout };
  let timers: Set<Timer>;
  let server: Server;
  let accepted: Socket;
  let client: Socket;

  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    [accepted] = (await once(server, 'connection')) as [Socket];
    timers = new Set();
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms: number) => {
        const timer = { act, ms };
        timers.add(timer);
        return timer;
      },
      clearTimeout: (timer: Timer) => timers.delete(timer),
    });
  });

  afterEach(async () => {
    Object.assign(globalThis, real);
    client.destroy();
    accepted.destroy();
    await once(server.close(), 'close');
  });

  it('ends after half a second when the client does not close its side', async () => {
    lingeringClose(accepted);
    await once(client, 'end');
    expect([...timers].map(({ ms }) => ms)).to.deep.equal([500]);
    expect(accepted.destroyed).to.equal(false);
    for (const { act } of timers) act();
    expect(accepted.destroyed).to.equal(true);
  });

  it('leaves no timer when the client closes', async () => {
    lingeringClose(accepted);
    client.end();
    await once(accepted, 'close');
    expect(timers).to.be.empty;
  });

  it('reads at most 64 KiB more', async () => {
    lingeringClose(accepted);
    client.write(Buffer.alloc(65_535));
    while (accepted.bytesRead < 65_535) await once(accepted, 'data');
    expect(accepted.isPaused()).to.equal(false);
    client.write('a');
    await once(accepted, 'pause');
  });

  it('does nothing on a closed connection', () => {
    accepted.destroy();
    lingeringClose(accepted);
    expect(timers).to.be.empty;
  });
});
