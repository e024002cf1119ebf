import { type Case, creating, sending, testEach } from '../support/cases.js';
import type { Expected } from '../support/check-response.js';
import { headOf, lines, MARK, type Parts, plantText, TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const HOST = `Host: ${MARK}.example`;
const MALFORMED: Expected = { error: 4000, connection: 'close' };
const KEEP_ALIVE = { connection: 'keep-alive' };
const REFUSED: Expected = { error: 4000 };

describe('HTTP syntax', () => {
  const service = useSharedService();

  describe('A request line that is not valid is a 4000', () => {
    const requestLines: [title: string, line: string][] = [
      ['only a method', 'POST'],
      ['no version', 'POST /plants'],
      ['the version 0.9', 'POST /plants HTTP/0.9'],
      ['more after the version', 'POST /plants HTTP/1.1 x'],
      ['an unknown method', `${MARK.toUpperCase()} /plants HTTP/1.1`],
      ['a method in lower case', 'post /plants HTTP/1.1'],
      ['a target without a leading slash', 'POST plants HTTP/1.1'],
      ['an absolute target without an authority', 'POST http:/plants HTTP/1.1'],
      ['a control character in the target', 'POST /pla\x01nts HTTP/1.1'],
      ['a byte beyond ASCII in the target', 'POST /plants\xe4 HTTP/1.1'],
      ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ];
    const says = 'the version must be HTTP/1.1 or HTTP/1.0';
    testEach(service, [
      ...requestLines.map(([title, line]) => sending(title, lines(line, HOST), REFUSED)),
      sending('the version 2.0', lines('POST /plants HTTP/2.0', HOST), { ...REFUSED, says }),
    ]);
  });

  describe('A field line that is not valid is a 4000', () => {
    const fieldLines: [title: string, line: string][] = [
      ['a space in a name', `${MARK} ${MARK}: x`],
      ['a space after a name', `${MARK} : x`],
      ['no name', `: ${MARK}`],
      ['a NUL in a name', `X\0: ${MARK}`],
      ['a NUL in a value', `X: ${MARK}\0`],
      ['a bare carriage return in a value', `X: ${MARK}\r${MARK}`],
      ['a bare line feed after a value', `X: ${MARK}\nY: x`],
      ['a folded line', `X: ${MARK}\r\n folded`],
    ];
    testEach(
      service,
      fieldLines.map(([title, line]) =>
        sending(title, lines('POST /plants HTTP/1.1', HOST, line), MALFORMED),
      ),
    );
    testEach(service, [
      sending('no colon', lines('POST /plants HTTP/1.1', HOST, MARK), {
        ...MALFORMED,
        says: 'the request is not valid HTTP/1.1 (RFC 9112)',
      }),
      sending('bare line feeds only', Buffer.from(`GET /livez HTTP/1.1\n${HOST}\n\n`), MALFORMED),
    ]);
  });

  describe('A field with the name of a property of every JavaScript object is accepted', () => {
    testEach(
      service,
      ['__proto__', 'constructor'].map((name) =>
        creating(name, { headers: { [name]: [MARK, MARK] } }),
      ),
    );
  });

  describe('Host', () => {
    const one = { ...REFUSED, says: 'the request must have exactly one Host header' };
    const valid = 'Host must be a name or an address, with or without a port';
    testEach(service, [
      creating(
        'a missing one is a 4000 that carries the id of the request',
        { headers: { host: undefined, 'x-request-id': 'without-host' } },
        { ...one, requestId: 'without-host' },
      ),
      creating('a doubled one is a 4000', { headers: { host: ['a.example', 'a.example'] } }, one),
      ...[`${MARK} b`, `${MARK}/b`, `${MARK}@b`, 'a:b', 'a:1:2', '[::1', '"a"'].map((host) =>
        creating(`${host} is a 4000`, { headers: { host } }, { ...REFUSED, says: valid }),
      ),
      ...['a_b.example', 'a%20b', '127.0.0.1:80', 'a.example:', '', '[::1]:8080'].map((host) =>
        creating(`'${host}' is accepted`, { headers: { host } }),
      ),
      creating(
        'a missing one is accepted in HTTP/1.0',
        { version: 'HTTP/1.0', headers: { host: undefined } },
        { connection: 'close' },
      ),
      sending('a missing one is a 4000 for any path', lines('GET /livez HTTP/1.1'), REFUSED),
    ]);
  });

  describe('Versions, connections and variations', () => {
    testEach(service, [
      creating(
        'Connection: CLOSE among other options closes the connection',
        { headers: { connection: `${MARK}, CLOSE` } },
        { connection: 'close' },
      ),
      creating(
        'Connection: close closes the connection after an error',
        { body: '{}', headers: { connection: 'close' } },
        {
          error: 4005,
          connection: 'close',
        },
      ),
      sending(
        'empty lines before the request line are ignored',
        Buffer.concat([Buffer.from('\r\n\r\n'), creating('', {}).bytes]),
        { toOperation: true },
      ),
      sending('field names in any case are accepted', mixedCase(), {
        toOperation: true,
        requestId: 'mixed-case',
      }),
      creating('bytes beyond ASCII in an unknown field are accepted', {
        headers: { 'x-note': 'pfl\xe4nzchen \xff' },
      }),
    ]);
  });

  describe('Content-Length', () => {
    for (const value of ['+5', '5, 5', '', '18446744073709551616']) {
      testEach(service, [withLength(`${JSON.stringify(value)} is a 4000`, value, MALFORMED)]);
    }
    testEach(service, [
      withLength('two that differ are a 4000', ['5', '6'], MALFORMED),
      withLength('one with leading zeros is accepted', `000${plantText().length}`, {}),
      ...(['', '1'] as const).map((body) =>
        creating(
          `of ${body.length} without credentials ${body && 'does not '}keep the connection`,
          { body, headers: { authorization: undefined } },
          { error: 4010, connection: body === '' ? 'keep-alive' : 'close' },
        ),
      ),
    ]);
  });

  describe('Transfer-Encoding', () => {
    for (const value of ['', 'gzip', 'chunked, chunked', 'chunked;q=1', MARK]) {
      testEach(service, [withCoding(`${JSON.stringify(value)} is a 4000`, value, REFUSED)]);
    }
    testEach(service, [
      withCoding('gzip, chunked is a 4000', 'gzip, chunked', {
        ...REFUSED,
        says: 'Transfer-Encoding must be chunked, in one header',
      }),
      withCoding('chunked in two fields is a 4000', ['chunked', 'chunked'], REFUSED),
      withCoding('chunked with Content-Length: 0 is a 4000', 'chunked', MALFORMED, {
        'content-length': '0',
      }),
      withCoding('chunked in any case is accepted', 'CHUNKED', {}),
      sending(
        'another coding is a 4000 on any path',
        Buffer.concat([
          lines('GET /livez HTTP/1.1', HOST, 'Transfer-Encoding: gzip, chunked'),
          Buffer.from('0\r\n\r\n'),
        ]),
        4000,
      ),
    ]);
  });

  describe('Transfer-Encoding in HTTP/1.0 is a 4000 that closes', () => {
    const says = 'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1';
    testEach(service, [
      withCoding('chunked', 'chunked', { ...MALFORMED, says }, {}, 'HTTP/1.0'),
      withCoding('gzip, with keep-alive', 'gzip', MALFORMED, KEEP_ALIVE, 'HTTP/1.0'),
    ]);
  });

  describe('Chunks', () => {
    const plant = plantText();
    const size = plant.length.toString(16);
    const invalid: [title: string, body: string][] = [
      ['a size that is not a number', `${MARK}\r\n`],
      ['a space after the size', `${size} \r\n${plant}\r\n0\r\n\r\n`],
      ['a size beyond 64 bits', `fffffffffffffffff\r\n${plant}`],
      ['a bare line feed after the size', `${size}\n${plant}\r\n0\r\n\r\n`],
      ['data longer than the size', `${size}\r\n${plant}${MARK}\r\n0\r\n\r\n`],
      ['a bare line feed in an extension', `${size};a=\nb\r\n${plant}\r\n0\r\n\r\n`],
      ['a trailer without a colon', `${size}\r\n${plant}\r\n0\r\n${MARK}\r\n\r\n`],
    ];
    testEach(
      service,
      invalid.map(([title, body]) =>
        chunkedRaw(`${title} is a 4000`, body, { ...MALFORMED, toOperation: true }),
      ),
    );
    testEach(service, [
      chunkedRaw(
        'a broken chunk is a 4000 that carries the id of the request',
        `${MARK}\r\n`,
        { ...MALFORMED, requestId: 'broken-chunk' },
        { 'x-request-id': 'broken-chunk' },
      ),
      chunkedRaw('extensions without end are refused', `${size};${'x'.repeat(20_000)}`, {
        error: [4000, 4003],
        connection: 'close',
      }),
      chunkedRaw('trailers without end are refused', `0\r\nX: ${'x'.repeat(20_000)}`, {
        error: [4000, 4310],
        connection: 'close',
      }),
    ]);
    const fine: [title: string, body: (plant: string, size: string) => string][] = [
      ['one chunk', (text, hex) => `${hex}\r\n${text}\r\n0\r\n\r\n`],
      ['leading zeros in sizes', (text, hex) => `000${hex}\r\n${text}\r\n000\r\n\r\n`],
      ['an extension in quotes', (text, hex) => `${hex};a="b; c"\r\n${text}\r\n0\r\n\r\n`],
      [
        'trailers with the names of fields',
        (text, hex) =>
          `${hex}\r\n${text}\r\n0\r\nContent-Type: text/plain\r\nAuthorization: x\r\nHost: x\r\n\r\n`,
      ],
      [
        'a chunk for each byte',
        (text) => `${[...text].map((it) => `1\r\n${it}\r\n`).join('')}0\r\n\r\n`,
      ],
    ];
    testEach(
      service,
      fine.map(([title, body]) => {
        const text = plantText();
        return chunkedRaw(`${title} is fine`, body(text, text.length.toString(16)), {
          toOperation: true,
          connection: 'keep-alive',
        });
      }),
    );
  });

  describe('Expect', () => {
    const refused = { ...REFUSED, says: 'Expect must be 100-continue' };
    testEach(service, [
      ...[MARK, '100-continue, 100-continue', '100-continue;q=1'].map((value) =>
        creating(`${JSON.stringify(value)} is a 4000`, { headers: { expect: value } }, refused),
      ),
      creating('100-continue in any case is fine', { headers: { expect: '100-CONTINUE' } }),
      sending(
        'another one is a 4000 on a path that does not exist',
        lines(`GET /${MARK} HTTP/1.1`, HOST, `Expect: ${MARK}`),
        4000,
      ),
      sending(
        '100-continue without a body is fine',
        lines('GET /livez HTTP/1.1', HOST, 'Expect: 100-continue'),
        { otherContent: true },
      ),
    ]);
  });
});

function mixedCase(): Uint8Array {
  const plant = plantText();
  return Buffer.concat([
    lines(
      'POST /plants HTTP/1.1',
      'hOST: x',
      `AUTHORIZATION: Bearer ${TOKEN}`,
      'content-TYPE: application/json',
      `CONTENT-length: ${plant.length}`,
      'x-REQUEST-id: mixed-case',
    ),
    Buffer.from(plant),
  ]);
}

function withLength(title: string, value: string | string[], expected: Expected): Case {
  return creating(
    title,
    { headers: { 'content-length': value } },
    { toOperation: false, ...expected },
  );
}

function withCoding(
  title: string,
  value: string | string[],
  expected: Expected,
  headers: Parts['headers'] = {},
  version = 'HTTP/1.1',
): Case {
  const changed = { ...headers, 'transfer-encoding': value };
  const { bytes } = creating('', { version, chunks: [plantText()], headers: changed });
  return sending(title, bytes, expected);
}

function chunkedRaw(
  title: string,
  body: string,
  expected: Expected,
  headers: Parts['headers'] = {},
): Case {
  const head = headOf({ headers: { ...headers, 'transfer-encoding': 'chunked' } });
  return sending(title, Buffer.concat([head, Buffer.from(body, 'latin1')]), expected);
}
