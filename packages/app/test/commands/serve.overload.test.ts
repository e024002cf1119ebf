import { once } from 'node:events';
import { connect } from 'node:net';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  endAll,
  serve,
  TOKEN,
} from '@plant-store/service-process';
import { expect } from 'chai';
import { silentServer } from '../silent-server.js';

const HEAD = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
const CLIENTS = 200;
/** A time-out may be up to a second late. The rest is for busy machines. */
const MAX_LATE_MS = 1_000 + 1_500;

/** Starts a service with a management listener, and a function that reads its metrics. */
async function start(env: Record<string, string> = {}) {
  const service = await serve({ MANAGEMENT_PORT: '0', ACCESS_TOKEN_SHA256, ...env });
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${service.management}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };
  return { ...service, metric };
}

describe('An overloaded service', function () {
  this.timeout(20_000);
  let silent: Awaited<ReturnType<typeof silentServer>>;
  let MONGODB_URI: string;

  before(async () => {
    silent = await silentServer();
    MONGODB_URI = `mongodb://127.0.0.1:${silent.port}/`;
  });
  after(() => silent.close());
  afterEach(endAll);

  it('refuses requests with 5032 while MAX_IN_FLIGHT others wait for a slow storage, and counts them', async () => {
    const limits = { MAX_IN_FLIGHT: '1', REQUEST_DEADLINE_MS: '2000' };
    const service = await start({ MONGODB_URI, ...limits });
    const responded: unknown[] = [];
    const ask = async (id: number) => {
      const response = await createPlant(service.address, id);
      responded.push(((await response.json()) as { error: number }).error);
    };
    await Promise.all([1, 2, 3].map(ask));
    expect(responded).to.deep.equal([5032, 5032, 5030]);
    expect(await service.metric('plant_store_requests_refused_total')).to.equal(2);
  });

  it('closes connections beyond MAX_CONNECTIONS, and counts them', async () => {
    const service = await start({ MAX_CONNECTIONS: '1' });
    const kept = connect(service.port, '127.0.0.1');
    kept.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(kept, 'data');
    const refused = connect(service.port, '127.0.0.1').on('error', () => {});
    await once(refused, 'close');
    expect(refused.bytesRead).to.equal(0);
    expect(await service.metric('plant_store_connections_refused_total')).to.equal(1);
    kept.destroy();
  });

  for (const [part, limit, request] of [
    ['headers', 500, 'GET /livez HTTP/1.1\r\nX-Slow: '],
    ['bodies', 1000, `${HEAD}Content-Length: 10000\r\n\r\n`],
  ] as const) {
    it(`times out ${CLIENTS} clients with slow ${part}, and serves others meanwhile`, async () => {
      const service = await start({ HEADERS_TIMEOUT_MS: '500', REQUEST_TIMEOUT_MS: '1000' });
      let open = CLIENTS;
      const drip = async (): Promise<number> => {
        const socket = connect(service.port, '127.0.0.1').on('error', () => {});
        await once(socket, 'connect');
        const started = performance.now();
        socket.write(request);
        const timer = setInterval(() => socket.write('x'), 100);
        await once(socket.resume(), 'end');
        clearInterval(timer);
        open -= 1;
        socket.destroy();
        return performance.now() - started;
      };
      const drips = Promise.all(Array.from({ length: CLIENTS }, drip));
      let served = 0;
      while (open > 0) {
        expect((await createPlant(service.address, served)).status).to.equal(200);
        served += 1;
      }
      expect(Math.max(...(await drips))).to.be.within(limit - 100, limit + MAX_LATE_MS);
      expect(served).to.be.above(10);
    });
  }
});
