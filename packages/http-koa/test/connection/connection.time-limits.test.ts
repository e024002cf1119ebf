import type { Socket } from 'node:net';
import { expect } from 'chai';
import { signal, useEmbedding } from '../support/embedding.js';
import { rawCreate } from '../support/listening-app.js';

const SHORT_LIMITS = { headersTimeout: 100, requestTimeout: 100 };

const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** A create with the beginning of this body. */
const started = (body: string) => rawCreate('').replace(/Content-Length.*$/s, body);

const UNFINISHED: Readonly<Record<string, string>> = {
  'whose headers do not end': 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ',
  'whose body does not end': started('Content-Length: 9999\r\n\r\n{'),
  'whose chunks do not end': started('Transfer-Encoding: chunked\r\n\r\n1000\r\n{'),
};

/** Sends a text, and then characters until the connection ends. Resolves with the statuses of the responses. */
async function drip(socket: Socket, text: string): Promise<number[]> {
  let received = '';
  socket.on('error', () => {}).on('data', (more) => (received += more));
  socket.write(text);
  const drips = setInterval(() => socket.write('x'), 10);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drips);
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

describe('The time limits', () => {
  const embedding = useEmbedding();

  for (const [title, head] of Object.entries(UNFINISHED)) {
    it(`apply to a request after any number of slow ones, ${title}`, async () => {
      const ready = signal();
      const { server } = await embedding.start({ ...SHORT_LIMITS, ready: () => ready.given });
      const counts = [0, 1, 16, 17, 40];
      const statuses: Promise<number[]>[] = [];
      for (const count of counts) {
        const { socket } = await embedding.client(server);
        statuses.push(drip(socket, READYZ.repeat(count) + head));
      }
      // Its limit passes after those of everything that was sent before.
      const witness = await embedding.client(server);
      expect(await drip(witness.socket, 'GET /livez HTTP/1.1\r\n')).to.deep.equal([408]);
      ready.give();
      expect(await Promise.all(statuses)).to.deep.equal(
        counts.map((count) => [...Array(count).fill(200), 408]),
      );
    });
  }
});
