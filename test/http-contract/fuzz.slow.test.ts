import { expect } from 'chai';
import fc from 'fast-check';
import { expectEnd, expectService } from './support/cases.js';
import { checkResponse, ERRORS_OF_CLIENTS, errorOf, saysClose } from './support/check-response.js';
import { RawConnection, type ReceivedResponse } from './support/raw-connection.js';
import {
  CHUNKED,
  create,
  freshId,
  JAVA,
  MARK,
  type Parts,
  plantText,
  request,
  TOKEN,
  UNSERVED,
} from './support/requests.js';
import { stopSharedServices, useSharedService } from './support/service.js';

/** A failure prints the seed and a path. `FUZZ_SEED` sets the seed; `FUZZ_FACTOR` multiplies the runs. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const FACTOR = Number(process.env.FUZZ_FACTOR ?? 1);

describe('Under fuzzing,', () => {
  const service = useSharedService();
  let connection: RawConnection;

  before(async () => {
    connection = await RawConnection.open(service().port);
  });
  after(async () => {
    connection.socket.destroy();
    await stopSharedServices();
  });

  const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });
  const parameters = (numRuns: number) => ({
    seed: SEED,
    numRuns: numRuns * FACTOR,
    includeErrorInReport: true,
  });

  it('a damaged request gets a listed response', async () => {
    await fc.assert(
      fc.asyncProperty(damagedRequest(), (bytes) => survives(service().port, bytes)),
      parameters(150),
    );
  });

  it('random requests, pipelined and cut anywhere, get their responses in order', async () => {
    const pipeline = fc.array(anyRequest(), { minLength: 1, maxLength: 7 });
    await fc.assert(
      fc.asyncProperty(pipeline, places, async (requests, cuts) => {
        const sent = requests.map(({ partsOf, ...it }) => {
          const id = freshId();
          const plant = { name: `${MARK} ${id}` };
          return { ...it, id, plant, bytes: create(partsOf(id, plant.name)) };
        });
        using pipelining = await RawConnection.open(service().port);
        await sendApart(pipelining, Buffer.concat(sent.map(({ bytes }) => bytes)), cuts);
        const responses: ReceivedResponse[] = [];
        do responses.push(await pipelining.response());
        while (responses.length < sent.length && !responses.some(saysClose));
        pipelining.socket.end();
        await expectEnd(pipelining);
        for (const [at, response] of responses.entries()) {
          const { error, plant, mayClose } = sent[at] ?? expect.fail('too many responses');
          const expected = error === undefined ? { plant } : { error };
          checkResponse(response, mayClose ? expected : { ...expected, connection: 'keep-alive' });
        }
        for (const [at, { id, error }] of sent.entries()) {
          const isStored = at < responses.length && error === undefined;
          connection.send(create({ body: plantText(id) }));
          checkResponse(await connection.response(), isStored ? { error: 4006 } : {});
        }
      }),
      parameters(50),
    );
  });

  /** Sends the bytes in pieces, cut at these places, each after the service has read the one before. */
  async function sendApart(to: RawConnection, bytes: Buffer, cuts: readonly number[]) {
    let from = 0;
    for (const cut of [...cuts.toSorted((a, b) => a - b), 1]) {
      const end = Math.floor(cut * bytes.length);
      await to.send(bytes.subarray(from, end));
      if (cut < 1) await expectService(connection);
      from = end;
    }
  }
});

interface AnyRequest {
  readonly partsOf: (id: bigint, name: string) => Parts;
  readonly error?: number;
  /** Whether the response may close the connection. */
  readonly mayClose: boolean;
}

function anyRequest(): fc.Arbitrary<AnyRequest> {
  const refused = fc.constantFrom(...REFUSED).map(([parts, error, mayClose = true]) => ({
    error,
    mayClose,
    partsOf: (id: bigint) => ({ body: plantText(id), ...parts }),
  }));
  return fc.oneof({ arbitrary: validRequest(), weight: 3 }, refused, specialRequests());
}

/** A create with any framing, whose body could be mistaken for the end of headers or the start of a request. */
function validRequest(): fc.Arbitrary<AnyRequest> {
  const headers = fc.constantFrom<NonNullable<Parts['headers']>[]>(
    {},
    {},
    { 'x-note': `${MARK} `.repeat(20) },
    { expect: '100-continue' },
    { connection: 'close' },
    JAVA,
  );
  const gap = fc.constantFrom('', '\r\n', '\r\n\r\n', '\r\n'.repeat(20), ' '.repeat(300));
  const member = fc.constantFrom('', ',"x":"POST /plants HTTP/1.1"');
  const chunks = fc.option(fc.array(fc.nat(400), { maxLength: 4 }), { nil: undefined });
  return fc.record({ headers, gap, member, chunks }).map(({ headers, gap, member, chunks }) => ({
    mayClose: headers.connection !== undefined,
    partsOf: (id, name) => {
      const body = `{${gap}"id":${id},${gap}"name":"${name}"${member}${gap}}${gap}`;
      return chunks === undefined ? { headers, body } : { headers, chunks: pieces(body, chunks) };
    },
  }));
}

/** Cuts a text at these places, without empty pieces, which would end a body in chunks. */
function pieces(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.toSorted((a, b) => a - b), text.length];
  return places.flatMap((from, index) => text.slice(from, places[index + 1]) || []);
}

/** Requests whose bodies are themselves requests to create this plant, and one of HTTP/1.0. */
function specialRequests(): fc.Arbitrary<AnyRequest> {
  const inner = (id: bigint) => create({ body: plantText(id) });
  const headers = JAVA;
  const version = 'HTTP/1.0';
  return fc.constantFrom<AnyRequest[]>(
    { error: 4004, mayClose: false, partsOf: (id) => ({ body: inner(id) }) },
    { error: 4004, mayClose: false, partsOf: (id) => ({ chunks: [inner(id)] }) },
    { error: 4004, mayClose: true, partsOf: (id) => ({ body: inner(id), headers }) },
    { error: 4004, mayClose: true, partsOf: (id) => ({ chunks: [inner(id)], headers }) },
    { mayClose: true, partsOf: (id, name) => ({ version, body: `{"id":${id},"name":"${name}"}` }) },
  );
}

/** Requests that are refused, and their errors. After a body that was read, the connection stays open. */
const REFUSED: readonly [parts: Parts, error: number, mayClose?: boolean][] = [
  [{ body: '{}' }, 4005, false],
  [{ body: '' }, 4001, false],
  [{ chunks: ['{', '}'] }, 4005, false],
  [{ chunks: ['{'] }, 4004, false],
  [{ body: 'x'.repeat(17_000) }, 4003],
  [{ chunks: ['x'.repeat(9000), 'x'.repeat(9000)] }, 4003],
  [{ headers: { authorization: undefined } }, 4010],
  [{ headers: { authorization: undefined }, body: 'x'.repeat(30_000) }, 4010],
  [{ headers: { 'content-type': undefined } }, 4002],
  [{ headers: { host: undefined } }, 4000],
  [{ headers: { expect: 'x' } }, 4000],
  [{ target: '/x' }, 4040],
  [{ method: UNSERVED }, 4050],
  [{ method: UNSERVED, body: 'x'.repeat(30_000) }, 4050],
  [{ method: 'GARBAGE' }, 4000],
  [{ headers: CHUNKED }, 4000],
];

/** Checks that every response to these bytes is a listed one, and that the connection ends when they end. */
async function survives(port: number, bytes: Uint8Array): Promise<void> {
  const toHead = /^\s*HEAD /.test(Buffer.from(bytes).toString('latin1'));
  using connection = await RawConnection.open(port);
  connection.send(bytes);
  connection.socket.end();
  const responses = await connection.responsesUntilEnd(toHead);
  for (const response of toHead ? [] : responses) {
    const isFailure = errorOf(response) !== undefined;
    checkResponse(response, isFailure ? { error: ERRORS_OF_CLIENTS } : { otherContent: true });
  }
}

/** A request in which one to four parts of up to three bytes are replaced. */
function damagedRequest(): fc.Arbitrary<Uint8Array> {
  const byte = fc.nat(255).map((code) => String.fromCharCode(code));
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(3),
    scrap: fc.oneof(fc.constantFrom(...SCRAPS), fc.constant(''), byte),
  });
  const damages = fc.array(damage, { minLength: 1, maxLength: 4 });
  const whole = fc.constantFrom(
    create(),
    create({ chunks: [plantText()] }),
    create({ body: '{}' }),
    create({ version: 'HTTP/1.0' }),
    create({ headers: { expect: '100-continue' } }),
    create({ headers: { authorization: undefined } }),
    Buffer.concat([create(), create(), create()]),
    request({ method: 'GET', target: '/livez' }),
  );
  return fc.tuple(whole, damages).map(([bytes, all]) => {
    let text = bytes.toString('latin1');
    for (const { at, length, scrap } of all) {
      const from = Math.floor(at * text.length);
      text = text.slice(0, from) + scrap + text.slice(from + length);
    }
    return Buffer.from(text, 'latin1');
  });
}

const SCRAPS = [
  ...[
    ' HTTP/1.0\r\n',
    `Host: ${MARK}\r\n`,
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
  ],
  ...['Connection: upgrade\r\nUpgrade: h2c\r\n', 'Expect: 100-continue\r\n', `Bearer ${TOKEN}\r\n`],
  ...['\r\n', '\r\n\r\n', '\n', '\r', ' ', ':', ',', ';', '\0', '\xff', '*', '{}', '0\r\n\r\n'],
  ...['GET ', 'PUT ', '/livez', '5\r\nhello\r\n', 'ffffffff\r\n', plantText()],
];
