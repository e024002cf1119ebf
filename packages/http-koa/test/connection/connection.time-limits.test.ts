import type { Socket } from 'node:net';
import { expect } from 'chai';
import { rawCreate, useListeningApp } from '../support/listening-app.js';

const SHORT_LIMITS = { headersTimeout: 100, requestTimeout: 100 };

const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const CREATE = rawCreate('{"id":1,"name":"Monstera"}');

const UNFINISHED: Readonly<Record<string, string>> = {
  'whose headers do not end': 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ',
  'whose body does not end': CREATE.replace(/Content-Length.*$/s, 'Content-Length: 9999\r\n\r\n{'),
  'whose chunks do not end': CREATE.replace(
    /Content-Length.*$/s,
    'Transfer-Encoding: chunked\r\n\r\n1000\r\n{',
  ),
};

/** A client that records what it receives. */
class Client {
  readonly socket: Socket;
  readonly ended: Promise<unknown>;
  received = '';

  constructor(socket: Socket) {
    this.socket = socket;
    this.ended = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}).on('data', (text) => (this.received += text));
  }

  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(text, () => resolve());
    });
  }

  /** Sends characters until the connection ends. */
  async drip(): Promise<void> {
    while (this.socket.writable && !this.socket.readableEnded) {
      await this.send('x');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

describe('The time limits', () => {
  const start = useListeningApp();

  for (const [title, head] of Object.entries(UNFINISHED)) {
    it(`apply to a request after any number of slow ones, ${title}`, async () => {
      // `/readyz` responds when `release` is called.
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const app = await start({ ...SHORT_LIMITS, ready: () => released });
      const client = async () => new Client((await app.client()).socket);
      const counts = [0, 1, 16, 17, 40];
      const clients: Client[] = [];
      while (clients.length < counts.length) clients.push(await client());
      await Promise.all(clients.map((it, at) => it.send(READYZ.repeat(counts[at] ?? 0) + head)));
      const dripped = clients.map((it) => it.drip());
      // The limits have passed for everything that was sent before.
      const witness = await client();
      await witness.send('GET /livez HTTP/1.1\r\n');
      await witness.ended;
      release();
      await Promise.all([...dripped, ...clients.map(({ ended }) => ended)]);
      expect([witness, ...clients].map(({ statuses }) => statuses)).to.deep.equal(
        [0, ...counts].map((before) => [...Array(before).fill(200), 408]),
      );
    });
  }
});
