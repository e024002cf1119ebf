import { expect } from 'chai';
import { SmallChunks } from '../../src/frame/small-chunks.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('Small chunks', () => {
  let passed: string[];
  let chunks: SmallChunks;

  beforeEach(() => {
    passed = [];
    chunks = new SmallChunks((bytes) => passed.push(bytes.toString()));
  });

  const add = (...texts: string[]) => {
    for (const text of texts) chunks.add(Buffer.from(text));
  };

  it('are passed on together at the end of the turn', async () => {
    add('a', 'b');
    expect(passed).to.deep.equal([]);
    add('c');
    await nextTurn();
    expect(passed).to.deep.equal(['abc']);
    add('d');
    await nextTurn();
    expect(passed).to.deep.equal(['abc', 'd']);
  });

  it('are passed on once, however often it is asked for', async () => {
    add('a');
    chunks.flush();
    chunks.flush();
    await nextTurn();
    expect(passed).to.deep.equal(['a']);
  });

  it('are passed on when 4,096 bytes are not enough', async () => {
    const quarter = 'x'.repeat(1024);
    add(quarter, quarter, quarter, quarter);
    expect(passed).to.deep.equal([]);
    add('y');
    expect(passed).to.deep.equal(['x'.repeat(4096)]);
    await nextTurn();
    expect(passed.slice(1)).to.deep.equal(['y']);
  });

  it('are passed on in memory that is not reused', async () => {
    let kept: Buffer | undefined;
    const keeping = new SmallChunks((bytes) => {
      kept ??= bytes;
    });
    keeping.add(Buffer.from('a'));
    keeping.flush();
    keeping.add(Buffer.from('b'));
    await nextTurn();
    expect(kept?.toString()).to.equal('a');
  });

  for (const [size, most] of [
    // One more for each 16 bytes: 16,384 + n / 16 = n.
    [1, Math.floor((16_384 * 16) / 15)],
    [8, 32_768],
  ] as const) {
    it(`are too many beyond ${most} of ${size} bytes`, () => {
      const chunk = 'x'.repeat(size);
      for (let count = 0; count < most; count += 1) add(chunk);
      expect(chunks.areTooMany).to.equal(false);
      add(chunk);
      expect(chunks.areTooMany).to.equal(true);
    });
  }
});
