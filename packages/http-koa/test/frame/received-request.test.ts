import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { connected } from '../connection/accepted-sockets.js';
import { listeningApp, rawCreate } from '../listening-app.js';

const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const BODY_LIMIT = 1_048_576;

/** A create with a body of this size, in chunks of this size; both in bytes. */
function chunkedCreate(size: number, chunk: number): string {
  const start = '{"id":1,"name":"';
  const body = `${start}${'x'.repeat(size - start.length - 2)}"}`;
  const [head = ''] = rawCreate(body).split('Content-Length');
  const chunks = body.match(new RegExp(`.{1,${chunk}}`, 'g')) ?? [];
  const framed = chunks.map((it) => `${it.length.toString(16)}\r\n${it}\r\n`).join('');
  return `${head}Transfer-Encoding: chunked\r\n\r\n${framed}0\r\n\r\n`;
}

/** Sends the text, half-closes, and resolves with everything that is received until the connection ends. */
async function responsesTo(socket: Socket, text: string): Promise<string> {
  let received = '';
  socket.on('data', (part) => {
    received += part;
  });
  socket.on('error', () => {}).end(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}

describe('A body in chunks', function () {
  this.timeout(10_000);
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function start() {
    const plants = new Map<bigint, NewPlant>();
    const { promise, release } = gate();
    const { port, origin, close } = await listeningApp(
      { bodyLimit: BODY_LIMIT, ready: () => promise },
      plants,
    );
    closing.push(close);
    const { socket } = await connected(port);
    closing.push(() => socket.destroy());
    /** Lets `/readyz` respond once the service has read what was sent before. */
    const releaseLater = async () => {
      await fetch(`${origin}/livez`);
      release();
    };
    return { plants, socket, releaseLater };
  }

  /** Bodies whose rest, after the first chunk too many, the service reads and discards. */
  const tiny: Readonly<Record<string, string>> = {
    '20,000 bytes in chunks of one byte': chunkedCreate(20_000, 1),
    '44,000 bytes in chunks of two bytes': chunkedCreate(44_000, 2),
  };
  const huge: Readonly<Record<string, string>> = {
    '64 KiB in chunks of one byte': chunkedCreate(65_536, 1),
    '256 KiB in chunks of one byte': chunkedCreate(262_144, 1),
    '256 KiB in chunks of two bytes': chunkedCreate(262_144, 2),
  };
  const fine: Readonly<Record<string, string>> = {
    '16 KiB in chunks of one byte': chunkedCreate(16_384, 1),
    '16 KiB in chunks of 16 bytes': chunkedCreate(16_384, 16),
    'as many bytes as allowed in chunks of 16 bytes': chunkedCreate(BODY_LIMIT, 16),
    'as many bytes as allowed in one chunk': chunkedCreate(BODY_LIMIT, BODY_LIMIT),
  };

  for (const [title, request] of Object.entries(tiny)) {
    it(`of ${title} is refused`, async () => {
      const { socket, plants } = await start();
      expectRefused(await responsesTo(socket, request));
      expect(plants.size).to.equal(0);
    });

    it(`of ${title} is refused while it waits for an earlier response`, async () => {
      const { socket, plants, releaseLater } = await start();
      const received = responsesTo(socket, READYZ + request);
      await releaseLater();
      const [first, ...rest] = (await received).split(/(?=HTTP\/1\.1 )/);
      expect(first).to.match(/^HTTP\/1\.1 200 /);
      expectRefused(rest.join(''));
      expect(plants.size).to.equal(0);
    });

    it(`of ${title} without a token is refused`, async () => {
      const { socket } = await start();
      const anonymous = request.replace(/Authorization: .*\r\n/, '');
      expect(await responsesTo(socket, anonymous)).to.match(
        /^HTTP\/1\.1 40[01] .*\r\nConnection: close\r\n/s,
      );
    });
  }

  for (const [title, request] of Object.entries(huge)) {
    it(`of ${title} is not stored`, async () => {
      const { socket, plants } = await start();
      await responsesTo(socket, request);
      expect(plants.size).to.equal(0);
    });
  }

  for (const [title, request] of Object.entries(fine)) {
    for (const before of [0, 1]) {
      it(`of ${title} is stored, after ${before} waiting requests`, async () => {
        const { socket, plants, releaseLater } = await start();
        socket.write(READYZ.repeat(before) + request);
        await releaseLater();
        let received = '';
        while ((received.match(/HTTP\/1\.1 200 /g)?.length ?? 0) <= before) {
          received += (await once(socket, 'data'))[0];
          expect(received).not.to.match(/HTTP\/1\.1 [45]/);
        }
        expect(plants.size).to.equal(1);
      });
    }
  }

  function expectRefused(received: string): void {
    expect(received).to.match(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n/s);
    expect(received).to.match(/\{"error":400[03],/);
    expect(received.match(/HTTP\/1\.1 /g)).to.have.length(1);
  }
});

function gate() {
  let release = (): void => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
