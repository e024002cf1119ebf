import { brotliCompressSync, gzipSync } from 'node:zlib';
import { creating, testEach } from '../support/cases.js';
import { MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

describe('Media types and content codings', () => {
  const service = useSharedService();

  describe('Accepted', () => {
    for (const type of [
      ...['application/json', 'APPLICATION/JSON', '  application/json  '],
      ...['application/json; charset=utf-8', 'application/json ; charset=utf-16'],
      ...['application/json;;;', 'application/json;garbage " \\ ,/ =', 'application/json;\xff'],
      ...['application/json;text/plain', `application/json; charset=${MARK}`],
    ]) {
      testEach(service, [
        creating(`Content-Type: ${JSON.stringify(type)}`, { headers: { 'content-type': type } }),
      ]);
    }
    for (const coding of ['identity', 'IDENTITY', 'Identity', '  identity ']) {
      testEach(service, [
        creating(`Content-Encoding: ${JSON.stringify(coding)}`, {
          headers: { 'content-encoding': coding },
        }),
      ]);
    }
    testEach(service, [
      creating('any Accept', { headers: { accept: 'text/html' } }),
      creating('an Accept that excludes everything', { headers: { accept: '*/*;q=0' } }),
      creating('an Accept that is not one', { headers: { accept: `${MARK} ; , /` } }),
      creating('any Accept-Encoding', { headers: { 'accept-encoding': 'gzip, br' } }),
      creating('conditions', { headers: { 'if-none-match': '*', 'if-match': '"x"' } }),
      creating('a Range', { headers: { range: 'bytes=0-1' } }),
    ]);
  });

  describe('Another Content-Type is a 4002', () => {
    for (const type of [
      ...['', ';application/json', 'json', 'application/', '*/*', 'application/*', 'text/json'],
      ...['text/plain', 'application/jso', 'application/jsonx', 'application/problem+json', MARK],
      ...['application/x-www-form-urlencoded', `multipart/form-data; boundary=${MARK}`],
      ...['application /json', 'application/json charset=utf-8', 'application/json, text/plain'],
      ...['"application/json"', 'application/json\xa0', 'applicat\xc4\xb1on/json'],
    ]) {
      testEach(service, [
        creating(JSON.stringify(type), { headers: { 'content-type': type } }, 4002),
      ]);
    }
    testEach(service, [
      creating('none', { headers: { 'content-type': undefined } }, 4002),
      creating(
        'twice the same',
        { headers: { 'content-type': ['application/json', 'application/json'] } },
        4002,
      ),
      creating(
        'the right one before another',
        { headers: { 'content-type': ['application/json', 'text/plain'] } },
        4002,
      ),
      creating(
        'the right one after another',
        { headers: { 'content-type': ['text/plain', 'application/json'] } },
        4002,
      ),
    ]);
  });

  describe('Another Content-Encoding is a 4002', () => {
    const plant = plantText();
    const coded: [coding: string | string[], body: string | Uint8Array][] = [
      ['gzip', gzipSync(plant)],
      ['x-gzip', gzipSync(plant)],
      ['br', brotliCompressSync(plant)],
      ['gzip', gzipSync('x'.repeat(100_000))],
      ['gzip', gzipSync(plant).subarray(0, 20)],
      ['zstd', plant],
      [MARK, plant],
      ['identity, gzip', plant],
      [['identity', 'gzip'], plant],
      ['identity;q=1', plant],
    ];
    testEach(
      service,
      coded.map(([coding, body]) =>
        creating(
          `${coding} around ${body.length} bytes`,
          { body, headers: { 'content-encoding': coding } },
          4002,
        ),
      ),
    );
  });
});
