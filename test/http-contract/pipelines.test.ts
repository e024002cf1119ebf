import { expect } from 'chai';
import fc from 'fast-check';
import { expectService } from './support/cases.js';
import { checkResponse, saysClose } from './support/check-response.js';
import { RawConnection } from './support/raw-connection.js';
import { chunked, freshId, headOf, MARK, type Parts } from './support/requests.js';
import { useService } from './support/service.js';

/** The seed, which a failure prints together with its path. `FUZZ_SEED` sets it; `FUZZ_FACTOR` multiplies the runs. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);
const FACTOR = Number(process.env.FUZZ_FACTOR ?? 1);

interface Shape {
  readonly headers: NonNullable<Parts['headers']>;
  readonly gap: string;
  /** A further member of the JSON. */
  readonly member: string;
  /** Where the body is cut into chunks; `undefined` for `Content-Length`. */
  readonly chunks: readonly number[] | undefined;
}

/** White space inside the JSON, which could be mistaken for the end of headers. */
const GAPS = ['', ' ', '\r\n', '\r\n\r\n', '\r\n'.repeat(20), ' '.repeat(300)];

/** Could be mistaken for the start of a request. */
const REQUEST_LINE = ',"x":"POST /plants HTTP/1.1"';

const shape: fc.Arbitrary<Shape> = fc.record({
  headers: fc.constantFrom(
    {},
    { 'x-note': `${MARK} `.repeat(20) },
    { expect: '100-continue' },
    { 'user-agent': undefined },
  ),
  gap: fc.constantFrom(...GAPS),
  member: fc.constantFrom('', REQUEST_LINE),
  chunks: fc.option(fc.array(fc.nat(400), { maxLength: 4 }), { nil: undefined }),
});

const offered = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AA' };

describe('Valid requests, pipelined and cut anywhere,', function () {
  this.timeout(60_000 * FACTOR);
  const service = useService();
  let other: RawConnection;

  before(async () => {
    other = await RawConnection.open(service.port);
  });
  after(() => other.destroy());

  const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

  it('are all carried out, in order, up to the first response with `Connection: close` to one that offers an upgrade', async () => {
    const offers = fc.integer({ min: 1, max: 5 }).map((number) => number === 1);
    const offering = fc.tuple(shape, offers).map(([it, offers]) => ({
      ...it,
      headers: offers ? { ...it.headers, ...offered } : it.headers,
    }));
    const pipeline = fc.array(offering, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pipeline, places, async (shapes, cuts) => {
        const { count, closedBy, rest } = await carriedOut(shapes, cuts);
        expect(rest).to.equal('');
        expect(count).to.equal(closedBy === undefined ? shapes.length : closedBy + 1);
        if (closedBy !== undefined) expect(shapes[closedBy]?.headers).to.include(offered);
      }),
      { seed: SEED, numRuns: 100 * FACTOR },
    );
  });

  /** Sends the requests in pieces, each after the service has read the one before. Resolves with the number of creates, and the first response that closes. */
  async function carriedOut(shapes: readonly Shape[], cuts: readonly number[]) {
    const sent = shapes.map((it) => ({ name: `${MARK} ${freshId()}`, ...it }));
    const bytes = Buffer.concat(sent.map(bytesOf));
    using connection = await RawConnection.open(service.port);
    for (const piece of pieces(bytes, cuts)) {
      await connection.sent(piece);
      await expectService(other);
    }
    connection.halfClose();
    let count = 0;
    for (const { name } of sent) {
      const response = await connection.response();
      checkResponse(response, { plant: { name }, toOperation: true });
      count += 1;
      if (saysClose(response) && count < sent.length)
        return { count, closedBy: count - 1, rest: (await connection.ending()).rest };
    }
    return { count, rest: (await connection.ending()).rest };
  }
});

function bytesOf({
  name,
  headers,
  gap,
  member,
  chunks,
}: Shape & { readonly name: string }): Buffer {
  const text = `{${gap}"id":${freshId()},${gap}"name":"${name}"${member}${gap}}${gap}`;
  const framed =
    chunks === undefined
      ? { head: { 'content-length': `${text.length}` }, body: Buffer.from(text) }
      : { head: { 'transfer-encoding': 'chunked' }, body: chunked(parts(text, chunks)) };
  return Buffer.concat([headOf({ headers: { ...headers, ...framed.head } }), framed.body]);
}

/** Cuts a text at these places, without empty parts, which would end a body in chunks. */
function parts(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.toSorted((a, b) => a - b), text.length];
  return places.flatMap((from, index) => text.slice(from, places[index + 1]) || []);
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length];
  places.sort((a, b) => a - b);
  return places.slice(0, -1).map((from, index) => bytes.subarray(from, places[index + 1]));
}
