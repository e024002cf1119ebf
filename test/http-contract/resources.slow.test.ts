import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Service } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { responsesTo } from './support/cases.js';
import { RawConnection } from './support/raw-connection.js';
import {
  create,
  type FieldValue,
  headOf,
  lines,
  MARK,
  plantOfSize,
  request,
} from './support/requests.js';
import { startService } from './support/service.js';

const SIZE = 16_384;
const TRIES = 15;
/** Node.js 24 keeps up to 100 MiB more garbage than Node.js 20. Requests that are kept as objects take more than the heap. */
const MAX_MIB = 300;
const CLIENTS = 100;
const BYTES = 80_000;

function filled(before: string, unit: string, after = ''): string {
  return before + unit.repeat((SIZE - before.length - after.length) / unit.length) + after;
}

function names(count: number, name: (at: number) => string): string {
  return `{${Array.from({ length: count }, (_, at) => `"${name(at)}":1`).join()}}`;
}

const BODIES: Readonly<Record<string, string>> = {
  'opening brackets': filled('', '['),
  digits: filled('{"name":"x","id":', '9', '}'),
  'a 1, a decimal point, zeros and a 1': filled('{"name":"x","id":1.', '0', '1}'),
  'a huge exponent': '{"name":"x","id":1e1000000000}',
  'zeros and an equally negative exponent': filled('{"name":"x","id":1', '0', 'e-16000}'),
  'many names': names(2200, (at) => at.toString(36)),
  'a long name': filled('{"id":1.5,"name":"', 'x', '"}'),
};

const SPACES = ' '.repeat(14_000);
const withField = (name: string, value: FieldValue) => create({ headers: { [name]: value } });
const cookies = { cookie: Array(900).fill('a=b'), 'content-length': '0' };

const REQUESTS: Readonly<Record<string, Uint8Array>> = {
  'spaces after Bearer': withField('authorization', `Bearer${SPACES}x y`),
  'a token with padding inside': withField('authorization', `Bearer ${'='.repeat(14_000)}x`),
  'spaces within the media type': withField('content-type', `application/json${SPACES}x`),
  'many content codings': withField('content-encoding', `${'identity,'.repeat(1500)}x`),
  'a long request id': withField('x-request-id', `${'x'.repeat(14_000)} `),
  'a long query': create({ target: `/plants?${'a=&'.repeat(4500)}` }),
  'many fields': withField('x-f', Array(900).fill('1')),
  'a body in chunks of one byte': create({ chunks: [...plantOfSize(16_000)] }),
  'an empty body after many fields of the same name': headOf({ headers: cookies }),
};

/** The CPU time in milliseconds of a search that reads each part of a request once for each of its bytes, on this machine. */
function quadraticSearchMs(): number {
  const before = process.cpuUsage();
  / +$/.test(`${' '.repeat(SIZE)}x`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** What clients without a token may send without end. */
const headers = { authorization: undefined };
const upgrade = { connection: 'upgrade', upgrade: 'h2c' };
const FLOODS: Readonly<Record<string, Uint8Array>> = {
  'GET /livez': lines('GET /livez HTTP/1.1', 'Host: a'),
  'upgrade requests': request({ method: 'GET', target: '/livez', headers: upgrade }),
  'creates with bodies': withField('authorization', `Bearer ${MARK}`),
  'chunks of one byte': create({ headers, chunks: Array(20_000).fill('x') }),
};

/** What clients may send without an end, up to the limits of the service. */
const HEAD = Buffer.from(`GET /livez HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(15_000)}`);
const BODY = create({ chunks: Array(16_000).fill('x') }).subarray(0, -5);

/** The heap that ends the process when requests that wait are kept as objects. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };

let service: Service;
before(async () => {
  service = await startService({ ...HEAP, MANAGEMENT_PORT: '0' });
});
after(() => service.stop());

async function metric(name: string): Promise<number> {
  const metrics = await (await fetch(`${service.management}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]);
}

describe('A request is parsed in less than half the CPU time of a quadratic search:', () => {
  const maxBusyMs = quadraticSearchMs() / 2;

  /** Takes the quickest of several tries, because some include garbage collection. */
  async function expectQuick(bytes: Uint8Array): Promise<void> {
    let quickest = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < TRIES && quickest >= maxBusyMs; tries += 1) {
      using connection = await RawConnection.open(service.port);
      const before = await cpuTimeMs();
      connection.send(bytes);
      await connection.response();
      quickest = Math.min(quickest, (await cpuTimeMs()) - before);
    }
    expect(quickest).to.be.below(maxBusyMs);
  }

  /** Resolves with the CPU time of the service in milliseconds, to which other processes add nothing. */
  const cpuTimeMs = async () => (await metric('process_cpu_seconds_total')) * 1000;

  for (const [title, body] of Object.entries(BODIES)) {
    it(`a body of ${title}`, () => expectQuick(request({ body })));
  }

  for (const [title, bytes] of Object.entries(REQUESTS)) it(title, () => expectQuick(bytes));
});

describe(`The memory of the service stays below ${MAX_MIB} MiB while`, () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  async function expectMemory(): Promise<void> {
    const bytesUsed = await metric('process_resident_memory_bytes');
    expect(bytesUsed / 2 ** 20).to.be.below(MAX_MIB);
  }

  /** Sends bytes on many connections, and checks the memory while another client gets its responses. */
  async function expectBounded(clients: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < clients; at += 1) {
      const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
      if (at % 2 === 0) socket.resume();
      sockets.push(socket);
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(bytes);
    for (let responses = 0; responses < 20; responses += 1) {
      expect((await fetch(`${service.address}/livez`)).status).to.equal(200);
    }
    await expectMemory();
  }

  for (const [what, one] of Object.entries(FLOODS)) {
    it(`${CLIENTS} clients pipeline ${what}, and half of them read no response`, async () => {
      const all = Array(Math.ceil(BYTES / one.length)).fill(one);
      await expectBounded(CLIENTS, Buffer.concat(all));
    });
  }

  it('many clients send 15,000 headers and never finish', () => expectBounded(5 * CLIENTS, HEAD));
  it('many clients send one-byte chunks without an end', () => expectBounded(CLIENTS, BODY));

  it('60,000 clients come and go', async () => {
    const bytes = request({ method: 'GET', target: '/livez', headers: { connection: 'close' } });
    for (let round = 0; round < 60_000 / CLIENTS; round += 1) {
      await Promise.all(Array.from({ length: CLIENTS }, () => responsesTo(service.port, bytes)));
    }
    await expectMemory();
  });
});
