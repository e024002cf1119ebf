import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  type NewPlantFields,
  newPlant,
} from '@plant-store/domain';
import { always, type EveryField, plantOf } from './steps.js';

/** The fields that a plant may lack. Does not compile if one is missing. */
const ABSENT: {
  readonly [Field in keyof NewPlantFields as undefined extends NewPlantFields[Field]
    ? Field
    : never]-?: undefined;
} = { tag: undefined };

const STRINGS = [
  // The empty string; leading and trailing space; U+0000; every control character of ASCII.
  '',
  ' \t Monstera \r\n \u0085',
  'a\u0000b',
  String.fromCharCode(...Array(32).keys(), 127),
  // Characters beyond the basic plane; combining marks that normalisation would change; a byte order mark and
  // noncharacters; right-to-left text.
  '🌵𝒜\u{10FFFF}',
  'e\u0301 \u00E9 \uFB01 \u212B',
  '\uFEFFa\uFFFE\uFFFF',
  '\u05E0\u05D1\u05D8\u202Eabc',
  // Text that looks like code; a name of JavaScript itself.
  '$where {"a": 1} \\u0041 \'; DROP -- <b> %00 ../',
  '__proto__',
  // More than 64 KiB.
  'ä'.repeat(50_000),
];

/** Values of all fields but the id. Each text is the name of one plant and the tag of another. */
const TEXTS: readonly Omit<EveryField, 'id'>[] = [
  ...STRINGS.map((name, index) => ({ name, tag: STRINGS.at(index - 1) ?? '' })),
  { name: 'equal', tag: 'equal' },
];

/** In numeric order, which differs from the order of their texts and of their doubles. */
const IDS = [
  MIN_PLANT_ID,
  MIN_PLANT_ID + 1n,
  -(2n ** 53n) - 1n,
  -(2n ** 31n) - 1n,
  -1n,
  0n,
  1n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  MAX_PLANT_ID - 1n,
  MAX_PLANT_ID,
];

/** Ids that differ in each run, so that no adapter can know them: one of each length, with each sign. */
const RANDOM_IDS = Array.from({ length: 63 }, (_, bit) => {
  const power = 2n ** BigInt(bit);
  const id = power + ((BigInt(Math.floor(Math.random() * 2 ** 32)) * (power >> 32n || 1n)) % power);
  return [-id, id];
}).flat();

/** Plants in the order of their ids, at the limits of what computers count. Some have the strings, and some have no tag. */
export const EDGES = IDS.map(exactPlant);

/** Further plants between them, in any order. */
export const OTHERS = RANDOM_IDS.filter((id) => !IDS.includes(id)).map((id) => exactPlant(id));

/** Returns plants in the order of their ids. */
export const inOrder = (...plants: readonly NewPlantFields[]) =>
  plants.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** All of them, in the order of their ids. */
export const EXACT = inOrder(...EDGES, ...OTHERS);

function exactPlant(id: bigint, index = -1): NewPlant {
  const text = TEXTS[index];
  if (text !== undefined) return newPlant({ id, ...text });
  return newPlant(id % 2n === 0n ? plantOf(id) : { ...plantOf(id), ...ABSENT });
}

/** Promises about values: they are stored exactly as they were added. */
export const values = {
  'stores every name and tag exactly, and an absent tag as absent': always(async (store) => {
    const full = TEXTS.map((text, index) => ({ id: BigInt(index), ...text }));
    const bare = { ...plantOf(-1n), ...ABSENT };
    const partial = Object.keys(ABSENT).map((field, index) => {
      return { ...plantOf(-2n - BigInt(index)), [field]: undefined };
    });
    const plants = [...full, bare, ...partial];
    await store.addAll(plants);
    await store.expectStored(plants);
  }),
  'distinguishes ids across the whole range of int64': always(async (store) => {
    await store.addAll(EXACT);
    await store.expectStored(EXACT);
  }),
};
