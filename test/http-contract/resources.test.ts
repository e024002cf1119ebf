import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Service } from '@plant-store/service-process';
import { expect } from 'chai';
import { chunked, create, headOf, MARK, request } from './support/requests.js';
import { startService } from './support/service.js';

const MAX_MIB = 150;
const CLIENTS = 100;
const BYTES = 80_000;

/** The heap that ends the process when requests that wait are kept as objects. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

/** What clients without a token may send without end. */
const FLOODS: Readonly<Record<string, () => Uint8Array>> = {
  'GET /livez': () => Buffer.from('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'),
  'requests that offer an upgrade': () =>
    request({
      method: 'GET',
      target: '/livez',
      headers: { connection: 'upgrade', upgrade: 'h2c' },
    }),
  'unknown paths': () => request({ method: 'GET', target: `/${MARK}` }),
  'creates without a token': () => request({ headers: { authorization: undefined } }),
  'creates with a wrong token': () => request({ headers: { authorization: `Bearer ${MARK}` } }),
  'creates with bodies': () => create({ headers: { authorization: `Bearer ${MARK}` } }),
  'chunks of one byte': () =>
    Buffer.concat([
      headOf({ headers: { authorization: undefined, 'transfer-encoding': 'chunked' } }),
      chunked(Array(20_000).fill('x')),
    ]),
};

describe(`The memory of the service stays below ${MAX_MIB} MiB while ${CLIENTS} clients pipeline, of which half read no response:`, function () {
  this.timeout(60_000);
  let service: Service;
  const sockets: Socket[] = [];

  before(async () => {
    service = await startService({ ...HEAP, MANAGEMENT_PORT: '0' });
    service.child.stdout?.resume();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => service.stop());

  async function residentMiB(): Promise<number> {
    const metrics = await (await fetch(`${service.management}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (.*)$/m.exec(metrics)?.[1]) / 2 ** 20;
  }

  for (const [what, one] of Object.entries(FLOODS)) {
    it(what, async () => {
      const bytes = one();
      const flood = Buffer.concat(Array(Math.ceil(BYTES / bytes.length)).fill(bytes));
      for (let at = 0; at < CLIENTS; at += 1) {
        const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
        if (at % 2 === 0) socket.resume();
        sockets.push(socket);
      }
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.write(flood);
      // Another client gets its responses meanwhile.
      for (let responses = 0; responses < 20; responses += 1) {
        expect((await fetch(`${service.address}/livez`)).status).to.equal(200);
      }
      expect(await residentMiB()).to.be.below(MAX_MIB);
    });
  }
});
