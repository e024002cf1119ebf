import { gzipSync } from 'node:zlib';
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
    ]) {
      testEach(service, [
        creating(`Content-Type: ${JSON.stringify(type)}`, { headers: { 'content-type': type } }),
      ]);
    }
    for (const coding of ['IDENTITY', '  identity ']) {
      testEach(service, [
        creating(`Content-Encoding: ${JSON.stringify(coding)}`, {
          headers: { 'content-encoding': coding },
        }),
      ]);
    }
    const ignored = { accept: '*/*;q=0', 'accept-encoding': 'gzip, br', 'if-none-match': '*' };
    testEach(service, [
      creating('conditions, a Range, and any Accept', {
        headers: { ...ignored, 'if-match': '"x"', range: 'bytes=0-1' },
      }),
    ]);
  });

  describe('Another Content-Type is a 4002', () => {
    const says = 'Content-Type must be application/json, in one header';
    const refused = { error: 4002, says };
    for (const type of [
      ...[undefined, '', 'text/json', 'application/jso', 'application/jsonx', MARK],
      ...['application/problem+json', 'application/x-www-form-urlencoded'],
      ...['application/json charset=utf-8', 'application/json, text/plain', 'application/json\xa0'],
      ...[
        ['application/json', 'application/json'],
        ['text/plain', 'application/json'],
      ],
    ]) {
      testEach(service, [
        creating(`${JSON.stringify(type)}`, { headers: { 'content-type': type } }, refused),
      ]);
    }
  });

  describe('Another Content-Encoding is a 4002', () => {
    const says = 'the body must not be compressed: send it without Content-Encoding';
    const plant = plantText();
    const coded: [coding: string | string[], body: string | Uint8Array][] = [
      ['gzip', gzipSync(plant)],
      ['gzip', gzipSync('x'.repeat(100_000))],
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
          { error: 4002, says },
        ),
      ),
    );
  });
});
