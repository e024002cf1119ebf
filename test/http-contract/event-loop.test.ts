import type { Service } from '@plant-store/service-process';
import { expect } from 'chai';
import { RawConnection } from './support/raw-connection.js';
import { create, freshId, headOf, type Parts, request } from './support/requests.js';
import { startService } from './support/service.js';

const SIZE = 16_384;
const TRIES = 15;

function filled(before: string, unit: string, after = ''): string {
  return before + unit.repeat((SIZE - before.length - after.length) / unit.length) + after;
}

function numbered(before: string, unit: (at: number) => string, after: string): string {
  let text = before + unit(0);
  for (let at = 1; text.length + after.length + 30 < SIZE; at += 1) text += `,${unit(at)}`;
  return text + after;
}

const BODIES: Readonly<Record<string, string>> = {
  'opening brackets': filled('', '['),
  'brackets that close': filled('', '[') + filled('', ']'),
  'brackets within a plant': filled('{"id":1,"name":"x","y":', '[', '}'),
  backslashes: filled('"', '\\'),
  escapes: filled('{"id":1,"name":"', '\\u0000', '"}'),
  'surrogate pairs': filled('{"id":1,"name":"', '\\uD83C\\uDF35', '"}'),
  'white space within': filled('{"id":1,', ' ', '"name":1}'),
  digits: filled('{"name":"x","id":', '9', '}'),
  'a one, a point, zeros and a one': filled('{"name":"x","id":1.', '0', '1}'),
  'runs of zeros': filled('{"name":"x","id":1', '0000000001', '}'),
  'digits of an exponent': filled('{"name":"x","id":1e', '9', '}'),
  'a huge exponent': '{"name":"x","id":1e1000000000}',
  'digits and a huge exponent': filled('{"name":"x","id":', '9', 'e1000000000}'),
  'digits and an equally negative exponent': filled('{"name":"x","id":', '7', 'e-16000}'),
  'zeros and an equally negative exponent': filled('{"name":"x","id":1', '0', 'e-16000}'),
  'huge numbers': numbered('{"id":1,"name":1,"y":[', () => '1e1000000000', ']}'),
  'many names': numbered('{', (at) => `"${at.toString(36)}":1`, '}'),
  'the same name': numbered('{', () => '"a":1', '}'),
  'names that differ at the end': numbered('{', (at) => `"${'a'.repeat(60)}${at}":1`, '}'),
  'a long name': filled('{"id":1.5,"name":"', 'x', '"}'),
  colons: filled('{"a"', ':'),
};

const HEADS: Readonly<Record<string, Parts>> = {
  'spaces after Bearer': { headers: { authorization: `Bearer${' '.repeat(14_000)}x y` } },
  'a token with padding inside': { headers: { authorization: `Bearer ${'='.repeat(14_000)}x` } },
  'a long token': { headers: { authorization: `Bearer ${'x'.repeat(14_000)}!` } },
  'spaces within the media type': {
    headers: { 'content-type': `application/json${' '.repeat(14_000)}x` },
  },
  'separators within the media type': { headers: { 'content-type': `a${';'.repeat(14_000)}` } },
  codings: { headers: { 'content-encoding': `${'identity,'.repeat(1500)}x` } },
  'spaces within a coding': { headers: { 'content-encoding': `identity${' '.repeat(14_000)}x` } },
  expectations: { headers: { expect: '100-continue,'.repeat(1000) } },
  'a long request id': { headers: { 'x-request-id': `${'x'.repeat(14_000)} ` } },
  'a long path': { target: '/plants'.repeat(2000) },
  'a path of slashes': { target: '/'.repeat(14_000) },
  'a path of dots': { target: '/..'.repeat(4500) },
  'a path of percent signs': { target: `/${'%'.repeat(14_000)}` },
  'a path below the docs': { target: `/docs${'/..'.repeat(4500)}` },
  'a long query': { target: `/plants?${'a=&'.repeat(4500)}` },
  'many fields': { headers: { 'x-f': Array(900).fill('1') } },
};

/** The CPU time in milliseconds of a search that reads each part of a request once for each of its bytes, on this machine. */
function quadraticSearchMs(): number {
  const before = process.cpuUsage();
  / +$/.test(`${' '.repeat(SIZE)}x`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('A request keeps the service busy for half of a quadratic search at most:', () => {
  let service: Service;
  let maxBusyMs: number;

  before(async () => {
    maxBusyMs = quadraticSearchMs() / 2;
    service = await startService({ MANAGEMENT_PORT: '0' });
  });
  after(() => service.stop());

  /** Takes the quickest of several tries, because some include garbage collection. */
  async function expectQuick(bytes: () => Uint8Array): Promise<void> {
    const times: number[] = [];
    while (times.length < TRIES && !times.some((time) => time < maxBusyMs)) {
      times.push(await timeTaken(bytes()));
    }
    expect(Math.min(...times)).to.be.below(maxBusyMs);
  }

  async function timeTaken(bytes: Uint8Array): Promise<number> {
    const connection = await RawConnection.open(service.port);
    const before = await cpuTimeMs();
    connection.send(bytes);
    await connection.response();
    connection.destroy();
    return (await cpuTimeMs()) - before;
  }

  /** Resolves with the CPU time of the service in milliseconds, to which other processes add nothing. */
  async function cpuTimeMs(): Promise<number> {
    const metrics = await (await fetch(`${service.management}/metrics`)).text();
    return Number(/^process_cpu_seconds_total (.*)$/m.exec(metrics)?.[1]) * 1000;
  }

  for (const [title, body] of Object.entries(BODIES)) {
    it(`a body of ${title}`, async () => {
      await expectQuick(() => request({ body }));
    });
  }

  for (const [title, parts] of Object.entries(HEADS)) {
    it(title, async () => {
      await expectQuick(() => create(parts));
    });
  }

  it('a body in chunks of one byte', async () => {
    const body = () => `{"id":${freshId()},"name":"${'x'.repeat(16_000)}"}`;
    await expectQuick(() => create({ chunks: [...body()] }));
  });

  it('a body in chunks of one byte, without a token', async () => {
    const headers = { authorization: undefined };
    await expectQuick(() => create({ chunks: [...'x'.repeat(16_000)], headers }));
  });

  it('an empty body after many fields of the same name', async () => {
    const headers = { cookie: Array(900).fill('a=b'), 'content-length': '0' };
    await expectQuick(() => headOf({ headers }));
  });
});
