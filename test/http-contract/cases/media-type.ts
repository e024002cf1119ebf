import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { creating, testEach } from '../cases.js';
import { MARK, plantText } from '../requests.js';
import { useService } from '../service.js';

describe('Media types and content codings', () => {
  const service = useService();

  describe('Accepted', () => {
    for (const type of [
      'application/json',
      'APPLICATION/JSON',
      'Application/Json',
      'aPPLICATION/jSON',
      '  application/json  ',
      'application/json; charset=utf-8',
      'application/json;charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; charset=utf-8',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      `application/json; charset=${MARK}`,
      'application/json; charset=utf-8; charset=utf-16',
      'application/json;',
      'application/json;;;',
      'application/json; ',
      'application/json;garbage " \\ ,/ =',
      'application/json;\xff',
      'application/json;text/plain',
      'application/json; x, text/plain',
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
      '',
      ';',
      '; charset=utf-8',
      ';application/json',
      'json',
      'application',
      'application/',
      '/json',
      '*/*',
      'application/*',
      'text/json',
      'text/plain',
      'text/plain; application/json',
      'text/html',
      'application/javascript',
      'application/jso',
      'application/jsonp',
      'application/json5',
      'application/jsonx',
      'application/json-seq',
      'application/json+x',
      'application/x-json',
      'application/x-ndjson',
      'application/ld+json',
      'application/problem+json',
      'application/vnd.api+json',
      'application/merge-patch+json',
      'application/octet-stream',
      'application/x-www-form-urlencoded',
      `multipart/form-data; boundary=${MARK}`,
      'application/json/x',
      'application /json',
      'application/ json',
      'application\\json',
      'application/json charset=utf-8',
      'application/json, text/plain',
      'application/json, application/json',
      'application/json,',
      ',application/json',
      '"application/json"',
      '<application/json>',
      'application/json\xa0',
      'applicat\xc4\xb1on/json',
      'application%2Fjson',
      MARK,
    ]) {
      testEach(service, [
        creating(JSON.stringify(type), { headers: { 'content-type': type } }, { error: 4002 }),
      ]);
    }
    testEach(service, [
      creating('none', { headers: { 'content-type': undefined } }, { error: 4002 }),
      creating(
        'twice the same',
        { headers: { 'content-type': ['application/json', 'application/json'] } },
        { error: 4002 },
      ),
      creating(
        'the right one before another',
        { headers: { 'content-type': ['application/json', 'text/plain'] } },
        { error: 4002 },
      ),
      creating(
        'the right one after another',
        { headers: { 'content-type': ['text/plain', 'application/json'] } },
        { error: 4002 },
      ),
    ]);
  });

  describe('Another Content-Encoding is a 4002', () => {
    const plant = plantText();
    const coded: [coding: string | string[], body: string | Uint8Array][] = [
      ['gzip', gzipSync(plant)],
      ['GZIP', gzipSync(plant)],
      ['x-gzip', gzipSync(plant)],
      ['deflate', deflateSync(plant)],
      ['br', brotliCompressSync(plant)],
      ['gzip', plant],
      ['gzip', gzipSync('x'.repeat(100_000))],
      ['gzip', gzipSync(plant).subarray(0, 20)],
      ['zstd', plant],
      ['compress', plant],
      ['utf-8', plant],
      [MARK, plant],
      ['gzip, identity', plant],
      ['identity, gzip', plant],
      [['identity', 'gzip'], plant],
      [['gzip', 'gzip'], gzipSync(gzipSync(plant))],
      ['identity;q=1', plant],
      ['*', plant],
    ];
    testEach(
      service,
      coded.map(([coding, body]) =>
        creating(
          `${coding} around ${body.length} bytes`,
          { body, headers: { 'content-encoding': coding } },
          { error: 4002 },
        ),
      ),
    );
  });
});
