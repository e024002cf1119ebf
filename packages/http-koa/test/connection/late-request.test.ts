import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { listeningApp, rawCreate } from '../listening-app.js';
import { connected } from './accepted-sockets.js';

const SHORT_LIMITS = { headersTimeout: 100, requestTimeout: 100 };

const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const CREATE = rawCreate('{"id":1,"name":"Monstera"}');

type Options = Parameters<typeof listeningApp>[0];

/** A client that records what it receives. */
class Client {
  readonly socket: Socket;
  readonly #accepted: Socket;
  readonly ended: Promise<unknown>;
  received = '';

  constructor({ socket, accepted }: { socket: Socket; accepted: Socket }) {
    this.socket = socket;
    this.#accepted = accepted;
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

  /** Resolves when the server has read everything that was sent. */
  async isRead(): Promise<void> {
    while (this.#accepted.bytesRead < this.socket.bytesWritten) await new Promise(setImmediate);
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

describe('The time limits', function () {
  this.timeout(5_000);
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Starts a server whose `/readyz` responds when `release` is called. */
  async function start(options: Options = {}) {
    const plants = new Map<bigint, NewPlant>();
    const waiting: (() => void)[] = [];
    let released = false;
    const ready = () =>
      released ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve));
    const { port, close } = await listeningApp({ ...SHORT_LIMITS, ready, ...options }, plants);
    closing.push(close);
    const client = async () => {
      const ends = await connected(port);
      closing.push(() => ends.socket.destroy());
      return new Client(ends);
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
    return { plants, client, release, limitsPassed };
  }

  describe('apply to a request after any number of slow ones', () => {
    const unfinished: Readonly<Record<string, string>> = {
      'whose headers do not end': 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ',
      'whose body does not end': CREATE.replace(
        /Content-Length.*$/s,
        'Content-Length: 9999\r\n\r\n',
      ),
      'whose chunks do not end': CREATE.replace(
        /Content-Length.*$/s,
        'Transfer-Encoding: chunked\r\n\r\n1000\r\n',
      ),
    };
    for (const [title, head] of Object.entries(unfinished)) {
      it(title, async () => {
        const { client, release, limitsPassed } = await start();
        const counts = [0, 1, 15, 16, 17, 18, 40];
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

    it('also when the client reads nothing at first', async () => {
      const { client, limitsPassed } = await start({ headersTimeout: 300, requestTimeout: 300 });
      const dripping = await client();
      dripping.socket.pause();
      const bundle = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n';
      await dripping.send(`${bundle.repeat(20)}GET /livez HTTP/1.1\r\nHost: localhost\r\nX: `);
      const dripped = dripping.drip('x');
      await limitsPassed();
      dripping.socket.resume();
      await dripping.ended;
      await dripped;
    });
  });

  describe('while another request is executed: a request that arrives too late', () => {
    const requests: Readonly<Record<string, [text: string, cut: number]>> = {
      'cut in its request line': [LIVEZ, 6],
      'cut in its headers': [LIVEZ, LIVEZ.length - 4],
      'with a body, cut in its headers': [CREATE, 30],
      'with a body, cut before its body': [CREATE, CREATE.indexOf('\r\n\r\n') + 4],
      'with a body, cut in its body': [CREATE, CREATE.length - 5],
    };
    for (const [title, [text, cut]] of Object.entries(requests)) {
      it(`has one response, ${title}`, async () => {
        const { client, plants, release, limitsPassed } = await start();
        const late = await client();
        await late.send(READYZ + text.slice(0, cut));
        await limitsPassed();
        await late.send(text.slice(cut));
        await limitsPassed();
        release();
        await late.responses(2);
        late.socket.end();
        await late.ended;
        expect(late.statuses).to.have.length(2);
        expect(late.statuses[0]).to.equal(200);
        expect(late.statuses[1]).to.be.oneOf([200, 408]);
        const executed = text === CREATE && late.statuses[1] === 200;
        expect(plants.size).to.equal(executed ? 1 : 0);
      });

      it(`does not drop the request after it, ${title}`, async () => {
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

  describe('exclude the time in which the service does not read', () => {
    const size = 500_000;
    const large = rawCreate(`{"id":1,"name":"${'x'.repeat(size)}"}`);
    const chunked = [
      large.slice(0, large.indexOf('Content-Length')),
      'Transfer-Encoding: chunked\r\n\r\n',
      `${(size + 18).toString(16)}\r\n${large.slice(large.indexOf('{'))}\r\n0\r\n\r\n`,
    ].join('');

    for (const [title, text] of Object.entries({ 'Content-Length': large, chunks: chunked })) {
      it(`for a large body with ${title} that was sent at once, after a slow request`, async () => {
        const limits = { headersTimeout: 300, requestTimeout: 300, bodyLimit: 2 * size };
        const { client, plants, release, limitsPassed } = await start(limits);
        const waiting = await client();
        waiting.socket.write(READYZ + text);
        await limitsPassed();
        release();
        await waiting.responses(2);
        expect(waiting.statuses).to.deep.equal([200, 200]);
        expect(plants.size).to.equal(1);
      });
    }

    const cuts: Readonly<Record<string, number>> = {
      'of which nothing had arrived': 0,
      'that was cut in its headers': 30,
      'that was cut in its body': CREATE.length - 5,
    };
    for (const [title, cut] of Object.entries(cuts)) {
      it(`because the process is suspended, for a request ${title}`, async () => {
        const { client, plants } = await start();
        const waiting = await client();
        waiting.socket.write(CREATE.slice(0, cut));
        await waiting.isRead();
        waiting.socket.write(CREATE.slice(cut));
        suspend();
        await waiting.responses(1);
        expect(waiting.statuses).to.deep.equal([200]);
        expect(plants.size).to.equal(1);
      });
    }

    it('because the process is suspended, for a second request', async () => {
      const { client, limitsPassed } = await start({ keepAliveTimeout: 600 });
      const waiting = await client();
      await waiting.send(LIVEZ);
      await waiting.responses(1);
      waiting.socket.write(LIVEZ);
      suspend();
      await waiting.responses(2);
      await limitsPassed();
      expect(waiting.statuses).to.deep.equal([200, 200]);
    });

    for (const [title, before] of Object.entries({ '': '', ' after another': READYZ })) {
      it(`but apply to a request that is incomplete after the suspension${title}`, async () => {
        const { client, release, limitsPassed } = await start();
        const waiting = await client();
        waiting.socket.write(before + CREATE.slice(0, 30));
        await waiting.isRead();
        waiting.socket.write(CREATE.slice(30, 40));
        suspend();
        await limitsPassed();
        release();
        await waiting.ended;
        expect(waiting.statuses).to.deep.equal(before === '' ? [408] : [200, 408]);
      });
    }
  });
});

/** Blocks the event loop for longer than any of the limits, as a suspended process is. */
function suspend(): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(nothing, 0, 0, 1_500);
}
