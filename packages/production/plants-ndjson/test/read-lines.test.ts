import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Line, readLines } from '../src/read-lines.js';

const LIMIT_BYTES = 8;

async function linesOf(chunks: Iterable<Uint8Array>): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(Readable.from(chunks), LIMIT_BYTES)) lines.push(line);
  return lines;
}

/** `undefined` for a line that is larger than the limit. */
const texts = (lines: readonly Line[]) =>
  lines.map(({ bytes, exceedsLimit }) => (exceedsLimit ? undefined : bytes.toString('latin1')));

/** Cuts bytes into chunks of these sizes, in turn. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let from = 0;
  const parts = sizes.map((size) => {
    from += size;
    return bytes.subarray(from - size, from);
  });
  return [...parts, bytes.subarray(from)];
}

describe('The lines of a file', () => {
  for (const [what, text, lines] of [
    ['no line', '', []],
    ['a last line without a line feed', 'a\nb', ['a', 'b']],
    ['a last line with a line feed', 'a\nb\n', ['a', 'b']],
    ['CRLF', 'a\r\nb\r\n', ['a\r', 'b\r']],
    ['empty lines', '\n\na\n\n', ['', '', 'a', '']],
    ['lines as large as the limit', `12345678\n12345678\n12345678`, Array(3).fill('12345678')],
    ['lines that exceed it', '123456789\n1\n12345678\r\n1', [undefined, '1', undefined, '1']],
    ['a last line that exceeds the limit', '1\n123456789', ['1', undefined]],
  ] as const) {
    it(`are numbered correctly however the input is split: ${what}`, async () => {
      const bytes = Buffer.from(text, 'latin1');
      for (const sizes of [[], [1, 4, 4]]) {
        const read = await linesOf(cut(bytes, sizes));
        expect(texts(read)).to.deep.equal(lines);
        expect(read.map(({ number }) => number)).to.deep.equal(lines.map((_, at) => at + 1));
      }
    });
  }

  it('are the same however random input is split', async () => {
    const content = fc
      .array(fc.constantFrom('a', '\n', '\r\n', '123456789'), { maxLength: 40 })
      .map((parts) => Buffer.from(parts.join(''), 'latin1'));
    await fc.assert(
      fc.asyncProperty(content, fc.array(fc.nat(5), { maxLength: 40 }), async (bytes, sizes) => {
        expect(await linesOf(cut(bytes, sizes))).to.deep.equal(await linesOf([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  it('are cut and passed on as soon as they exceed the limit', async () => {
    async function* unending() {
      for (const _ of [1, 2]) yield Buffer.from('12345');
      throw new Error('it was read further');
    }
    const { value } = await readLines(unending(), LIMIT_BYTES).next();
    expect(value).to.deep.equal({ number: 1, bytes: Buffer.from('12345123'), exceedsLimit: true });
  });
});
