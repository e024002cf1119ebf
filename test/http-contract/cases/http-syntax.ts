import { expect } from 'chai';
import {
  type Case,
  creating,
  creatingWith,
  exchange,
  expectService,
  groups,
  sending,
} from '../support/cases.js';
import { checkResponse, type Expected } from '../support/check-response.js';
import { fieldValues, RawConnection } from '../support/raw-connection.js';
import {
  CHUNKED,
  create,
  type FieldValue,
  headOf,
  lines,
  MARK,
  type Parts,
  plantText,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const HOST = `Host: ${MARK}.example`;
const CLOSED = { connection: 'close' } as const;
const KEPT = { connection: 'keep-alive' } as const;
const MALFORMED: Expected = { error: 4000, ...CLOSED };
const refusedWith = (says: string): Expected => ({ error: 4000, says });
/** The reason of Node's parser, of which this word is the same in all versions. */
const reason = (word: string) =>
  new RegExp(`^the request is not valid HTTP/1.1 \\(RFC 9112\\): .*\\b${word}\\b`, 'i');

/** Cases of a valid body in chunks, with these fields. */
const withCoding = (values: readonly FieldValue[], expected?: Expected, parts?: Parts) =>
  creatingWith('transfer-encoding', values, expected, { chunks: [plantText()], ...parts });

/** Cases with a title of their own, because their values do not tell them from others. */
const called = (title: string, cases: readonly Case[]) => cases.map((it) => ({ ...it, title }));

const handshake = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

/** What a load balancer or a client sends that mistakes the service for another. */
const FOREIGN: Readonly<Record<string, Uint8Array>> = {
  'an HTTP/2 preface': lines('PRI * HTTP/2.0', '', 'SM'),
  'the PROXY protocol': lines('PROXY TCP4 192.0.2.1 192.0.2.2 1 2', 'GET / HTTP/1.1', HOST),
  'a TLS handshake': lines(handshake),
  'an invalid chunk': create({ headers: CHUNKED, body: 'zz\r\n' }),
};

describe('HTTP syntax', () => {
  const service = useSharedService();
  const group = groups(service);

  const [method, target] = [
    { error: 4000, says: reason('method') },
    { error: 4000, says: reason('url') },
  ];
  const version = refusedWith('the version must be HTTP/1.1 or HTTP/1.0');
  group(
    'An invalid request line gets a 4000:',
    sending('only a method', lines('POST', HOST), 4000),
    sending('no version', lines('POST /plants', HOST), 4000),
    sending('an unknown method', lines(`${MARK.toUpperCase()} /plants HTTP/1.1`, HOST), method),
    sending('a target without a leading slash', lines('POST plants HTTP/1.1', HOST), target),
    sending('a TLS handshake', lines(handshake, HOST), method),
    sending('the version 2.0', lines('POST /plants HTTP/2.0', HOST), version),
  );

  const says = reason('header');
  const withLine = (title: string, line: string) =>
    sending(title, lines('POST /plants HTTP/1.1', HOST, line), { ...MALFORMED, says });
  group(
    'An invalid field line gets a 4000:',
    withLine('a space after a name', `${MARK} : x`),
    withLine('a NUL in a value', `X: ${MARK}\0`),
    withLine('a bare carriage return in a value', `X: ${MARK}\r${MARK}`),
    withLine('a bare line feed after a value', `X: ${MARK}\nY: x`),
    withLine('a folded line', `X: ${MARK}\r\n folded`),
  );

  const oneHost = refusedWith('the request must have exactly one Host header');
  const validHost = refusedWith('Host must be a name or an address, with or without a port');
  group(
    'A missing, repeated or invalid Host gets a 4000:',
    creating(
      'no Host, with the id of the request',
      { headers: { host: undefined, 'x-request-id': 'without-host' } },
      { ...oneHost, requestId: 'without-host' },
    ),
    sending('no Host, for any path', lines('GET /livez HTTP/1.1'), oneHost),
    ...creatingWith('host', [['a.example', 'a.example']], oneHost),
    ...creatingWith('host', [`${MARK} b`, `${MARK}/b`, `${MARK}@b`, 'a:1:2', '[::1'], validHost),
  );

  const expecting = lines('GET /livez HTTP/1.1', HOST, 'Expect: 100-continue');
  const hosts = ['a_b.example', 'a%20b', '127.0.0.1:80', 'a.example:', '', '[::1]:8080'];
  group(
    'These requests are accepted:',
    ...creatingWith('host', hosts),
    ...creatingWith('content-length', [`000${plantText().length}`]),
    ...withCoding(['CHUNKED']),
    ...creatingWith('expect', ['100-CONTINUE']),
    ...creatingWith('__proto__', [[MARK, MARK]]),
    ...creatingWith('x-note', ['pfl\xe4nzchen \xff']),
    creating(
      'no Host in HTTP/1.0, which closes the connection',
      { version: 'HTTP/1.0', headers: { host: undefined } },
      CLOSED,
    ),
    sending('100-continue without a body', expecting, { otherContent: true }),
  );

  group(
    'Connection: close closes the connection:',
    ...creatingWith('connection', [`${MARK}, CLOSE`], CLOSED),
    creating('after an error', { body: '{}', headers: CLOSED }, { error: 4005, ...CLOSED }),
  );

  const lengths = ['+5', '5, 5', '', '18446744073709551616', ['5', '6']];
  const headers = { authorization: undefined };
  group(
    'An invalid Content-Length gets a 4000:',
    ...creatingWith('content-length', lengths, MALFORMED),
  );
  group(
    'A refused request with a Content-Length',
    creating('of 0 keeps the connection open', { body: '', headers }, { error: 4010, ...KEPT }),
    creating(
      'of 1 closes the connection before the body is read',
      { body: '1', headers },
      { error: 4010, ...CLOSED },
    ),
  );

  const coding = refusedWith('Transfer-Encoding must be chunked, in one header');
  const old = 'Transfer-Encoding is not part of HTTP/1.0: send Content-Length, or use HTTP/1.1';
  const version10 = { version: 'HTTP/1.0' };
  const kept = { ...version10, headers: KEPT };
  group(
    'A Transfer-Encoding other than chunked, or in HTTP/1.0, gets a 4000:',
    ...withCoding(['gzip', 'gzip, chunked', 'chunked;q=1'], coding),
    // Of these, some versions of Node.js have a parser that refuses them.
    ...withCoding(['', ['chunked', 'chunked']], { error: 4000 }),
    ...called(
      'chunked, with a Content-Length',
      withCoding(['chunked'], MALFORMED, { headers: { 'content-length': '0' } }),
    ),
    ...called(
      'chunked in HTTP/1.0',
      withCoding(['chunked'], { ...MALFORMED, says: old }, version10),
    ),
    ...called(
      'gzip in HTTP/1.0, with Connection: keep-alive',
      withCoding(['gzip'], MALFORMED, kept),
    ),
  );

  const plant = plantText();
  const size = plant.length.toString(16);
  const requestId = 'broken-chunk';
  const framing = { ...CHUNKED, 'x-request-id': requestId };
  const broken = (title: string, body: string) =>
    creating(title, { body, headers: framing }, { ...MALFORMED, requestId, says: reason('.+') });
  group(
    'Invalid chunks get a 4000:',
    broken('a size that is not a number', `${MARK}\r\n`),
    broken('a bare line feed after the size', `${size}\n${plant}\r\n0\r\n\r\n`),
    broken('data longer than the size', `${size}\r\n${plant}${MARK}\r\n0\r\n\r\n`),
    broken('a trailer without a colon', `${size}\r\n${plant}\r\n0\r\n${MARK}\r\n\r\n`),
  );
  const trailer = `x-trailer: ${'x'.repeat(100_000)}`;
  group(
    'Trailers above the limit of the headers',
    creating(
      'get a 4310',
      { body: `${size}\r\n${plant}\r\n0\r\n${trailer}\r\n\r\n`, headers: framing },
      { ...MALFORMED, error: 4310, requestId },
    ),
  );

  it('An invalid chunk that arrives after the headers gets a 4000 with the reason', async () => {
    using connection = await RawConnection.open(service().port);
    using other = await RawConnection.open(service().port);
    connection.send(headOf({ headers: framing }));
    await expectService(other);
    connection.send(Buffer.from(`${MARK}\r\n`));
    checkResponse(await connection.response(), { ...MALFORMED, says: reason('chunk') });
  });

  const expectation = refusedWith('Expect must be 100-continue');
  const elsewhere = lines(`GET /${MARK} HTTP/1.1`, HOST, `Expect: ${MARK}`);
  group(
    'An Expect other than 100-continue gets a 4000:',
    ...creatingWith('expect', [MARK, '100-continue, 100-continue'], expectation),
    sending('on a path that does not exist', elsewhere, expectation),
  );

  for (const [what, bytes] of Object.entries(FOREIGN)) {
    it(`The log line of ${what} shows the client address and the parser error`, async () => {
      const response = await exchange(service().port, bytes, 4000);
      const [requestId] = fieldValues(response, 'x-request-id');
      const [line] = await service().printed(new RegExp(`.*"requestId":"${requestId}".*`));
      const { address, parserError } = JSON.parse(line);
      expect(address).to.equal('127.0.0.1');
      expect(parserError).to.match(/^HPE_[A-Z_0-9]+$/);
    });
  }
});
