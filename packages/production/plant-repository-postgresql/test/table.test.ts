import { randomUUID } from 'node:crypto';
import { type NewPlant, newPlant } from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';
import { expect } from 'chai';
import { assert, bigInt, nat, option, property, string, stringMatching } from 'fast-check';
import { markOf, plantOf, rowOf } from '../src/table.js';

const id = bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = string({ unit: nat(0x10ffff).map((it) => String.fromCodePoint(it).toWellFormed()) });
/** Texts in which U+0000 and what stands for it meet. */
const risky = stringMatching(/^[\0\\0a]{0,8}$/);

const row = (plant: NewPlant, mark = randomUUID()) => rowOf({ plant, mark });

describe('The row of a plant', () => {
  for (const [what, texts] of [
    ['any text', text],
    ['texts with U+0000 and backslashes', risky],
  ] as const) {
    it(`preserves ${what}, and its mark`, () => {
      assert(
        property(id, texts, option(texts, { nil: undefined }), (plantId, name, tag) => {
          const plant = newPlant({ id: plantId, name, tag });
          const mark = randomUUID();
          const stored = row(plant, mark);
          expect(`${stored.name}${stored.tag}`).to.not.include('\0');
          expect(plantOf(stored)).to.deep.equal({ id: plantId, name, tag });
          expect(markOf(stored)).to.equal(mark);
        }),
      );
    });
  }

  it('contains a text without U+0000 unescaped', () => {
    const stored = row(newPlant({ id: 1n, name: 'a \\0 and a \\', tag: '' }));
    expect(stored).to.include({ id: '1', name: 'a \\0 and a \\', tag: '' });
    expect(stored.mark?.[14]).to.equal('4');
  });

  it('shows in its mark that U+0000 and backslashes are escaped', () => {
    const stored = row(newPlant({ id: 1n, name: 'a\0b', tag: '\\' }));
    expect(stored).to.include({ name: 'a\\0b', tag: '\\\\' });
    expect(stored.mark?.[14]).to.equal('8');
  });

  it('of another program may have any mark, or none', () => {
    const foreign = { id: '1', name: '\\', tag: null };
    for (const mark of [null, '00000000-0000-0000-0000-000000000000']) {
      expect(plantOf({ ...foreign, mark })).to.deep.equal({ id: 1n, name: '\\', tag: undefined });
      expect(markOf({ mark })).to.equal(mark ?? undefined);
    }
  });

  it('of another program is rejected if no plant can have such a row', () => {
    const mark = '00000000-0000-8000-8000-000000000000';
    for (const [name, tag] of [
      [null, null],
      ['\\', null],
      ['\\a', null],
      ['a', '\\\\\\'],
      ['\\', '\\'],
    ] as const) {
      expect(() => plantOf({ id: '7', name, tag, mark })).to.throw(UnreadablePlantError, 'id 7');
    }
  });
});
