import { MAX_PLANT_ID, MIN_PLANT_ID, type NewPlant, newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { add, BEFORE, has, plantOf, promise } from './steps.js';

const STRINGS = {
  'the empty string': '',
  'leading and trailing space': ' \t Monstera \n \u0085',
  'U+0000': 'a\u0000b',
  'every control character of ASCII': String.fromCharCode(...Array(32).keys(), 127),
  'characters beyond the basic plane': '🌵𝒜\u{10FFFF}',
  'combining marks that normalisation would change': 'e\u0301 \u00E9 \uFB01 \u212B',
  'byte order mark and noncharacters': '\uFEFFa\uFFFE\uFFFF',
  'right-to-left text': '\u05E0\u05D1\u05D8\u202Eabc',
  'what other languages take for syntax': '$where {"a": 1} \\u0041 \'; DROP -- <b> %00 ../',
  'names of JavaScript itself': '__proto__',
  '16,000 characters': 'ä'.repeat(16_000),
};

/** In their order, which is neither that of their texts nor that of their doubles. */
const IDS = [
  ...[MIN_PLANT_ID, MIN_PLANT_ID + 1n, -(2n ** 53n) - 1n, -(2n ** 31n) - 1n],
  ...[-1n, 0n, 1n, 2n ** 31n - 1n, 2n ** 31n],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, MAX_PLANT_ID - 1n, MAX_PLANT_ID],
];

/** Plants in the order of their ids. The first have each of the strings, and the others have no tag. */
export const EXACT: readonly NewPlant[] = IDS.map((id, index) => {
  const text = Object.values(STRINGS)[index];
  return newPlant(text === undefined ? plantOf(id) : { id, name: text, tag: text });
});

/** Promises about values: they are stored exactly as they were added. */
export const values = [
  promise('is empty before the first add', [], async ({ stored }) => {
    expect(await stored(1n)).to.equal(undefined);
  }),
  ...Object.entries(STRINGS).map(([what, text]) =>
    promise(`keeps ${what}, as name and as tag`, [], async (store) => {
      await add(store, { id: 1n, name: text, tag: text });
      await has(store, [{ id: 1n, name: text, tag: text }]);
    }),
  ),
  promise('keeps an absent tag absent', [], async (store) => {
    await add(store, BEFORE);
    await has(store, [BEFORE]);
  }),
  promise('distinguishes ids across the whole range of int64', [], async (store) => {
    for (const id of IDS) await add(store, plantOf(id));
    await has(store, IDS.map(plantOf));
  }),
];
