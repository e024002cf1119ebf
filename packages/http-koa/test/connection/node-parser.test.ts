import type { Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { listeningApp, rawCreate } from '../listening-app.js';
import { connected } from './accepted-sockets.js';

const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';

const offering = (text: string) => text.replace('\r\n\r\n', `\r\n${OFFER}\r\n`);
const plant = (id: number) => rawCreate(`{"id":${id},"name":"Monstera"}`);
const parted = (text: string, at = text.indexOf('\r\n\r\n') + 4): [string, string] => [
  text.slice(0, at),
  text.slice(at),
];
/** A create whose body is itself a create, and so an invalid plant. */
const nested = (id: number) => rawCreate(plant(id));

describe('An upgrade that is offered', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Sends the segments while `/readyz` waits, and resolves with the responses. */
  async function responsesTo(segments: readonly string[]) {
    const plants = new Map<bigint, NewPlant>();
    const waiting: (() => void)[] = [];
    let released = false;
    const ready = () =>
      released ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve));
    const { port, origin, close } = await listeningApp({ ready }, plants);
    closing.push(close);
    const { socket } = await connected(port);
    closing.push(() => socket.destroy());
    const received = collected(socket);
    for (const segment of segments) {
      socket.write(segment, 'latin1');
      await (await fetch(`${origin}/livez`)).text();
    }
    socket.end();
    released = true;
    for (const respond of waiting) respond();
    const text = await received;
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    return {
      statuses,
      closes: /\r\nConnection: close\r\n/i.test(text),
      stored: [...plants.keys()],
    };
  }

  interface Pipeline {
    readonly segments: readonly string[];
    /** The statuses of all responses. A response that closes the connection may be the last. */
    readonly statuses: readonly number[];
    readonly stored: readonly bigint[];
  }

  const pipelines: Readonly<Record<string, Pipeline>> = {
    'by a GET': {
      segments: [READYZ + offering(LIVEZ)],
      statuses: [200, 200],
      stored: [],
    },
    'by a GET in a second segment': {
      segments: [READYZ, offering(LIVEZ)],
      statuses: [200, 200],
      stored: [],
    },
    'by a POST': {
      segments: [READYZ + offering(plant(1))],
      statuses: [200, 200],
      stored: [1n],
    },
    'by a POST whose body comes in a second segment': {
      segments: parted(
        READYZ + offering(plant(1)),
        READYZ.length + offering(plant(1)).indexOf('{'),
      ),
      statuses: [200, 200],
      stored: [1n],
    },
    'by a POST whose body is a request in a second segment': {
      segments: [READYZ, ...parted(offering(nested(1)))],
      statuses: [200, 400],
      stored: [],
    },
    'by a POST whose body is a request in the same segment': {
      segments: [READYZ + offering(nested(1))],
      statuses: [200, 400],
      stored: [],
    },
    'by a POST, with a POST in the same segment': {
      segments: [READYZ + offering(plant(1)) + plant(2)],
      statuses: [200, 200, 200],
      stored: [1n, 2n],
    },
    'by a POST, with a POST in the next segment': {
      segments: [READYZ + offering(plant(1)), plant(2)],
      statuses: [200, 200, 200],
      stored: [1n, 2n],
    },
    'by a POST, with a POST cut in its headers': {
      segments: parted(
        READYZ + offering(plant(1)) + plant(2),
        READYZ.length + offering(plant(1)).length + 40,
      ),
      statuses: [200, 200, 200],
      stored: [1n, 2n],
    },
    'by a GET, with a POST whose body is a request in the next segment': {
      segments: [READYZ + offering(LIVEZ) + parted(nested(1))[0], parted(nested(1))[1]],
      statuses: [200, 200, 400],
      stored: [],
    },
    'by the slow request itself, with a POST in the same segment': {
      segments: [offering(READYZ) + plant(1)],
      statuses: [200, 200],
      stored: [1n],
    },
    'by the slow request itself, with a POST in the next segment': {
      segments: [offering(READYZ), plant(1)],
      statuses: [200, 200],
      stored: [1n],
    },
    'by the slow request itself, with a POST whose body is a request': {
      segments: [offering(READYZ) + parted(nested(1))[0], parted(nested(1))[1]],
      statuses: [200, 400],
      stored: [],
    },
    'by every one of many': {
      segments: [READYZ + [1, 2, 3, 4].map((id) => offering(plant(id))).join('')],
      statuses: [200, 200, 200, 200, 200],
      stored: [1n, 2n, 3n, 4n],
    },
    'after as many requests as may wait': {
      segments: [READYZ.repeat(20) + offering(plant(1)), plant(2)],
      statuses: Array(22).fill(200),
      stored: [1n, 2n],
    },
  };

  for (const [title, { segments, statuses, stored }] of Object.entries(pipelines)) {
    it(`${title}, while earlier responses are pending, loses no request and executes no body`, async () => {
      const { closes, ...outcome } = await responsesTo(segments);
      if (closes) {
        expect(outcome.statuses).to.deep.equal(statuses.slice(0, outcome.statuses.length));
        const missing = statuses.length - outcome.statuses.length;
        expect(outcome.stored).to.deep.equal(stored.slice(0, stored.length - missing));
      } else {
        expect(outcome).to.deep.equal({ statuses, stored });
      }
    });
  }
});

async function collected(socket: Socket): Promise<string> {
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}
