import { type Case, creating, sending, testEach } from '../support/cases.js';
import type { Expected } from '../support/check-response.js';
import { lines, MARK, type Parts, plantText, TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const HOST = `Host: ${MARK}.example`;
const MALFORMED: Expected = { error: 4000, connection: 'close' };
const REFUSED: Expected = { error: 4000 };

/** Cases that differ in the value of one field. */
function withField(name: string, values: readonly (string | string[])[], expected?: Expected) {
  return values.map((value) =>
    creating(`${name}: ${JSON.stringify(value)}`, { headers: { [name]: value } }, expected),
  );
}

/** A body as it is sent after `Transfer-Encoding: chunked`. */
function inChunks(body: string, headers: Parts['headers'] = {}): Parts {
  const framing = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
  return { body: Buffer.from(body, 'latin1'), headers: { ...framing, ...headers } };
}

/** Cases of a valid body in chunks, with these fields. */
function withCoding(values: readonly (string | string[])[], expected?: Expected, parts?: Parts) {
  return values.map((value) => {
    const headers = { ...parts?.headers, 'transfer-encoding': value };
    const changed = { ...parts, chunks: [plantText()], headers };
    return creating(JSON.stringify(value), changed, expected);
  });
}

describe('HTTP syntax', () => {
  const service = useSharedService();
  const group = (title: string, ...cases: Case[]) => {
    describe(title, () => testEach(service, cases));
  };

  const requestLines: [title: string, line: string][] = [
    ['only a method', 'POST'],
    ['no version', 'POST /plants'],
    ['an unknown method', `${MARK.toUpperCase()} /plants HTTP/1.1`],
    ['a target without a leading slash', 'POST plants HTTP/1.1'],
    ['an absolute target without an authority', 'POST http:/plants HTTP/1.1'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];
  group(
    'A request line that is not valid is a 4000',
    ...requestLines.map(([title, line]) => sending(title, lines(line, HOST), REFUSED)),
    sending('the version 2.0', lines('POST /plants HTTP/2.0', HOST), {
      ...REFUSED,
      says: 'the version must be HTTP/1.1 or HTTP/1.0',
    }),
  );

  const fieldLines: [title: string, line: string][] = [
    ['a space after a name', `${MARK} : x`],
    ['a NUL in a value', `X: ${MARK}\0`],
    ['a bare carriage return in a value', `X: ${MARK}\r${MARK}`],
    ['a bare line feed after a value', `X: ${MARK}\nY: x`],
    ['a folded line', `X: ${MARK}\r\n folded`],
  ];
  const says = 'the request is not valid HTTP/1.1 (RFC 9112)';
  group(
    'A field line that is not valid is a 4000',
    ...fieldLines.map(([title, line]) =>
      sending(title, lines('POST /plants HTTP/1.1', HOST, line), { ...MALFORMED, says }),
    ),
    sending('bare line feeds only', Buffer.from(`GET /livez HTTP/1.1\n${HOST}\n\n`), MALFORMED),
  );

  const oneHost = { ...REFUSED, says: 'the request must have exactly one Host header' };
  const validHost = {
    ...REFUSED,
    says: 'Host must be a name or an address, with or without a port',
  };
  group(
    'Host, missing, doubled or not valid, is a 4000',
    creating(
      'a missing one, with the id of the request',
      { headers: { host: undefined, 'x-request-id': 'without-host' } },
      { ...oneHost, requestId: 'without-host' },
    ),
    sending('a missing one for any path', lines('GET /livez HTTP/1.1'), oneHost),
    ...withField('host', [['a.example', 'a.example']], oneHost),
    ...withField(
      'host',
      [`${MARK} b`, `${MARK}/b`, `${MARK}@b`, 'a:b', 'a:1:2', '[::1', '"a"'],
      validHost,
    ),
  );

  group(
    'Accepted',
    ...withField('host', ['a_b.example', 'a%20b', '127.0.0.1:80', 'a.example:', '', '[::1]:8080']),
    ...withField('content-length', [`000${plantText().length}`]),
    ...withCoding(['CHUNKED']),
    ...withField('expect', ['100-CONTINUE']),
    ...withField('__proto__', [[MARK, MARK]]),
    ...withField('x-note', ['pfl\xe4nzchen \xff']),
    creating(
      'no Host in HTTP/1.0, which closes the connection',
      { version: 'HTTP/1.0', headers: { host: undefined } },
      { connection: 'close' },
    ),
    sending(
      'empty lines before the request line',
      Buffer.concat([Buffer.from('\r\n\r\n'), creating('', {}).bytes]),
      { toOperation: true },
    ),
    sending('field names in any case', mixedCase(), { requestId: 'mixed-case' }),
    sending(
      '100-continue without a body',
      lines('GET /livez HTTP/1.1', HOST, 'Expect: 100-continue'),
      { otherContent: true },
    ),
  );

  group(
    'Connection: close closes the connection',
    ...withField('connection', [`${MARK}, CLOSE`], { connection: 'close' }),
    creating(
      'after an error',
      { body: '{}', headers: { connection: 'close' } },
      { error: 4005, connection: 'close' },
    ),
  );

  group(
    'Content-Length that is not one number is a 4000',
    ...withField(
      'content-length',
      ['+5', '5, 5', '', '18446744073709551616', ['5', '6']],
      MALFORMED,
    ),
  );
  const withoutCredentials = { headers: { authorization: undefined } };
  group(
    'A 4010 keeps the connection only without a body',
    creating('', { body: '', ...withoutCredentials }, { error: 4010, connection: 'keep-alive' }),
    creating('1', { body: '1', ...withoutCredentials }, { error: 4010, connection: 'close' }),
  );

  const coding = { ...REFUSED, says: 'Transfer-Encoding must be chunked, in one header' };
  group(
    'Transfer-Encoding other than chunked is a 4000',
    ...withCoding(['gzip', 'gzip, chunked', 'chunked;q=1'], coding),
    // Of these, some versions of Node.js have a parser that refuses them.
    ...withCoding(['', ['chunked', 'chunked']], REFUSED),
    ...withCoding(['chunked'], MALFORMED, { headers: { 'content-length': '0' } }),
    sending(
      'on any path',
      Buffer.concat([lines('GET /livez HTTP/1.1', HOST, 'Transfer-Encoding: x'), chunkEnd()]),
      REFUSED,
    ),
  );
  const old = 'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1';
  group(
    'Transfer-Encoding in HTTP/1.0 is a 4000 that closes',
    ...withCoding(['chunked'], { ...MALFORMED, says: old }, { version: 'HTTP/1.0' }),
    ...withCoding(['gzip'], MALFORMED, {
      version: 'HTTP/1.0',
      headers: { connection: 'keep-alive' },
    }),
  );

  const plant = plantText();
  const size = plant.length.toString(16);
  const invalid: [title: string, body: string][] = [
    ['a size that is not a number', `${MARK}\r\n`],
    ['a bare line feed after the size', `${size}\n${plant}\r\n0\r\n\r\n`],
    ['data longer than the size', `${size}\r\n${plant}${MARK}\r\n0\r\n\r\n`],
    ['a trailer without a colon', `${size}\r\n${plant}\r\n0\r\n${MARK}\r\n\r\n`],
  ];
  const requestId = 'broken-chunk';
  group(
    'Chunks that are not valid are a 4000',
    ...invalid.map(([title, body]) =>
      creating(title, inChunks(body, { 'x-request-id': requestId }), { ...MALFORMED, requestId }),
    ),
    creating('extensions without end', inChunks(`${size};${'x'.repeat(20_000)}`), {
      error: [4000, 4003],
      connection: 'close',
    }),
    creating('trailers without end', inChunks(`0\r\nX: ${'x'.repeat(20_000)}`), {
      error: [4000, 4310],
      connection: 'close',
    }),
  );

  const expectation = { ...REFUSED, says: 'Expect must be 100-continue' };
  group(
    'Another Expect is a 4000',
    ...withField('expect', [MARK, '100-continue, 100-continue', '100-continue;q=1'], expectation),
    sending(
      'on a path that does not exist',
      lines(`GET /${MARK} HTTP/1.1`, HOST, `Expect: ${MARK}`),
      expectation,
    ),
  );
});

function chunkEnd(): Buffer {
  return Buffer.from('0\r\n\r\n');
}

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
