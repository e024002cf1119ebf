import { MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/domain';
import { expect } from 'chai';
import { add, has, promise } from './steps.js';

const STRINGS = {
  'the empty string': '',
  'leading and trailing space': ' \t Monstera \n ',
  'U+0000': 'a\u0000b',
  'every control character': String.fromCharCode(...Array(32).keys(), 127, 133),
  'characters beyond the basic plane': '🌵𝒜\u{10FFFF}',
  'combining marks that normalisation would change': 'e\u0301 \u00E9 \uFB01 \u212B',
  'byte order mark and noncharacters': '\uFEFFa\uFFFE\uFFFF',
  'right-to-left text': '\u05E0\u05D1\u05D8\u202Eabc',
  'what other languages take for syntax': '$where {"a": 1} \\u0041 \'; DROP -- <b> %00 ../',
  'names of JavaScript itself': '__proto__',
  '16,000 characters': 'ä'.repeat(16_000),
};

const IDS = [
  ...[0n, 1n, -1n, 2n ** 31n - 1n, 2n ** 31n, -(2n ** 31n) - 1n],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n],
  ...[MAX_PLANT_ID - 1n, MAX_PLANT_ID, MIN_PLANT_ID + 1n, MIN_PLANT_ID],
];

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
    await add(store, { id: 1n, name: 'Monstera' });
    await has(store, [{ id: 1n, name: 'Monstera' }]);
  }),
  promise('distinguishes ids across the whole range of int64', [], async (store) => {
    const plants = IDS.map((id) => ({ id, name: `plant ${id}` }));
    for (const plant of plants) await add(store, plant);
    await has(store, plants);
  }),
];
