import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';

const PARALLEL = 100;
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';

type Outcome = 'response' | 'reset' | 'closed' | 'refused';

/** A client with a new connection for one request. */
class Call {
  connected = false;
  readonly outcome: Promise<Outcome>;
  readonly #socket: Socket;

  constructor(port: number, request = LIVEZ) {
    this.#socket = connect(port, '127.0.0.1').setEncoding('latin1');
    this.#socket.once('connect', () => {
      this.connected = true;
      this.#socket.write(request);
    });
    this.outcome = this.#ending();
  }

  /** Resolves when the operating system has connected it, whether or not the service has accepted it. */
  async established(): Promise<void> {
    if (!this.connected) await once(this.#socket, 'connect');
  }

  async #ending(): Promise<Outcome> {
    let received = '';
    this.#socket.on('data', (text) => {
      received += text;
      if (received.includes('{"status":"live"}')) this.#socket.end();
    });
    let code: string | undefined;
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code;
    });
    await new Promise((resolve) => this.#socket.once('close', resolve));
    if (received.startsWith('HTTP/1.1 200 ')) return 'response';
    if (!this.connected) return 'refused';
    return code === undefined ? 'closed' : 'reset';
  }
}

function count<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

describe('Stopping during a burst of new connections', function () {
  this.timeout(20_000);
  afterEach(endAll);

  it('responds on every connection that was waiting to be accepted', async () => {
    const { port, child, ended } = await serve({ ACCESS_TOKEN_SHA256 });
    child.kill('SIGSTOP');
    const calls = Array.from({ length: PARALLEL }, () => new Call(port));
    await Promise.all(calls.map((call) => call.established()));
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
    expect([...count(outcomes)]).to.deep.equal([['response', PARALLEL]]);
    expect(await ended).to.equal(0);
  });

  it('closes every connection that was waiting to be accepted and has sent nothing', async () => {
    const { port, child, ended } = await serve({ ACCESS_TOKEN_SHA256 });
    child.kill('SIGSTOP');
    const silent = Array.from({ length: PARALLEL }, () => new Call(port, ''));
    await Promise.all(silent.map((call) => call.established()));
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const outcomes = await Promise.all(silent.map(({ outcome }) => outcome));
    expect([...count(outcomes)]).to.deep.equal([['closed', PARALLEL]]);
    expect(await ended).to.equal(0);
  });

  it('resets no connection that was established before the signal', async () => {
    const { port, child, ended } = await serve({ ACCESS_TOKEN_SHA256 });
    const open = new Set<Call>();
    const before: Call[] = [];
    let made = 0;
    const callAgain = async (): Promise<void> => {
      for (;;) {
        const call = new Call(port);
        made += 1;
        if (made === 500) {
          before.push(...[...open].filter(({ connected }) => connected));
          child.kill('SIGTERM');
        }
        open.add(call);
        const outcome = await call.outcome;
        open.delete(call);
        if (outcome !== 'response') return;
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, callAgain));
    const outcomes = await Promise.all(before.map(({ outcome }) => outcome));
    expect([...count(outcomes)]).to.deep.equal([['response', before.length]]);
    expect(before.length).to.be.above(0);
    expect(await ended).to.equal(0);
  });
});
