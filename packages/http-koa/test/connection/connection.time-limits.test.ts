import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { connected } from '../support/accepted-sockets.js';
import { listeningApp, rawCreate } from '../support/listening-app.js';

const SHORT_LIMITS = { headersTimeout: 100, requestTimeout: 100 };

const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
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
    socket.on('error', () => {});
    socket.on('data', (text) => {
      this.received += text;
    });
  }

  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(text, () => resolve());
    });
  }

  /** Resolves when this many responses have begun; rejects when the connection ends before. */
  async responses(count: number): Promise<void> {
    while (this.statuses.length < count) {
      const gone = await Promise.race([
        once(this.socket, 'data').then(() => false),
        this.ended.then(() => true),
      ]);
      if (gone && this.statuses.length < count) throw new Error(`ended after ${this.statuses}`);
    }
  }

  /** Sends the text one character after the other, repeatedly, until the connection ends. */
  async drip(text: string): Promise<void> {
    for (let at = 0; this.socket.writable && !this.socket.readableEnded; at += 1) {
      await this.send(text[at % text.length] ?? '');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

describe('The time limits', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Starts a server whose `/readyz` responds when `release` is called. */
  async function start() {
    const plants = new Map<bigint, NewPlant>();
    const waiting: (() => void)[] = [];
    let released = false;
    const ready = () =>
      released ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve));
    const { server, port, close } = await listeningApp({ ...SHORT_LIMITS, ready }, plants);
    closing.push(close);
    const client = async () => {
      const { socket } = await connected(port);
      closing.push(() => socket.destroy());
      return new Client(socket);
    };
    const release = () => {
      released = true;
      for (const respond of waiting.splice(0)) respond();
    };
    /** Resolves when the time limits have passed for everything that was sent before. */
    const limitsPassed = async () => {
      const witness = await client();
      await witness.send('GET /livez HTTP/1.1\r\n');
      await witness.responses(1);
      expect(witness.statuses).to.deep.equal([408]);
    };
    return { server, plants, client, release, limitsPassed };
  }

  describe('apply to a request after any number of slow ones', () => {
    for (const [title, head] of Object.entries(UNFINISHED)) {
      it(title, async () => {
        const { client, release, limitsPassed } = await start();
        const counts = [0, 1, 16, 17, 40];
        const clients: Client[] = [];
        while (clients.length < counts.length) clients.push(await client());
        await Promise.all(clients.map((it, at) => it.send(READYZ.repeat(counts[at] ?? 0) + head)));
        const dripped = clients.map((it) => it.drip('x'));
        await limitsPassed();
        release();
        await Promise.all([...dripped, ...clients.map(({ ended }) => ended)]);
        expect(clients.map(({ statuses }) => statuses)).to.deep.equal(
          counts.map((before) => [...Array(before).fill(200), 408]),
        );
      });
    }
  });

  describe('while another request is executed: a request that arrives too late', () => {
    const requests: Readonly<Record<string, [text: string, cut: number]>> = {
      'cut in its request line': [LIVEZ, 6],
      'with a body, cut before its body': [CREATE, CREATE.indexOf('\r\n\r\n') + 4],
      'with a body, cut in its body': [CREATE, CREATE.length - 5],
    };
    for (const [title, [text, cut]] of Object.entries(requests)) {
      it(`has one response, as has the request after it, ${title}`, async () => {
        const { client, plants, release, limitsPassed } = await start();
        const late = await client();
        await late.send(READYZ + text.slice(0, cut));
        await limitsPassed();
        await late.send(text.slice(cut) + rawCreate('{"id":2,"name":"Ficus"}'));
        await limitsPassed();
        release();
        late.socket.end();
        await late.ended;
        const closed = late.statuses.includes(408);
        expect(late.statuses).to.deep.equal(closed ? [200, 408] : [200, 200, 200]);
        expect(plants.has(2n)).to.equal(!closed);
      });
    }
  });

  describe('apply to a client that sends one byte after the other', () => {
    for (const [title, head] of Object.entries(UNFINISHED)) {
      it(`also in the turn of the event loop in which the limit passes, ${title}`, async () => {
        const { server, client } = await start();
        const dripping = await client();
        await dripping.send(head);
        server.prependOnceListener('clientError', () => dripping.socket.write('x'));
        await once(server, 'clientError');
        const witness = await client();
        await witness.send(LIVEZ);
        await witness.responses(1);
        expect(dripping.statuses).to.deep.equal([408]);
      });
    }
  });
});
