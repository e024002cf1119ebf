import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { MAX_PLANT_ID, MIN_PLANT_ID, type Plant } from '@plant-store/domain';
import type { CorrectStore } from '../correct-store.js';

/** Changes of a text, by which texts they change. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'that is empty': (text) => text || 'unnamed',
  'with Windows line breaks': (text) => text.replaceAll('\r\n', '\n'),
  'with leading space': (text) => text.trimStart(),
  'with U+0000': (text) => text.replaceAll('\0', ''),
  'with U+007F': (text) => text.replaceAll('\u007F', ''),
  'with characters beyond the basic plane': (text) => text.replace(/[\u{10000}-\u{10FFFF}]/gu, '?'),
  'that normalisation would change': (text) => text.normalize('NFC'),
  'with a byte order mark': (text) => text.replace(/^\uFEFF/, ''),
  'with right-to-left text': (text) => text.replaceAll('\u202E', ''),
  'that looks like code': (text) => text.replace(/<[^>]*>/g, ''),
  'that is "__proto__"': (text) => (text in {} ? '' : text),
  'of more than 64 KiB': (text) => text.slice(0, 32_768),
};

/** What each plant has besides its id. Does not compile without a field of the domain. */
const FIELDS: Readonly<Record<keyof Plant, true>> = { name: true, tag: true };

/** What becomes of an id in a type that is too small. */
const TYPES: Readonly<Record<string, (id: bigint) => bigint>> = {
  'as doubles': (id) => BigInt.asIntN(64, BigInt(Number(id))),
  'with 32 bits': (id) => BigInt.asIntN(32, id),
  'with 32 bits, without a sign': (id) => BigInt.asUintN(32, id),
  'with 63 bits': (id) => BigInt.asIntN(63, id),
  'without a sign': (id) => (id < 0n ? -id : id),
  'with a sign that is lost at -1': (id) => (id === -1n ? 1n : id),
  'without the largest': (id) => (id === MAX_PLANT_ID ? id - 1n : id),
  'without the smallest': (id) => (id === MIN_PLANT_ID ? id + 1n : id),
};

/** A store that changes fields of each plant. */
const changing =
  (failure: string, change: CorrectStore['change']): Defect<CorrectStore> =>
  () => ({ failure, change });

/** Defects about values, by the case that catches them. */
export const values: FaultyAdapters<CorrectStore> = {
  'stores every name and tag exactly, and an absent tag as absent': {
    ...Object.fromEntries(
      Object.keys(FIELDS).map((field) => [
        `forgets the ${field}`,
        changing(`plant 0 in the database: expected ${field}`, () => ({ [field]: undefined })),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(TEXTS).flatMap(([which, change]) =>
        (['name', 'tag'] as const).map((field) => [
          `changes a ${field} ${which}`,
          changing(`in the database: expected ${field} "`, (plant) => ({
            [field]: change(plant[field] ?? ''),
          })),
        ]),
      ),
    ),
    'stores an absent tag as an empty one': changing(
      'plant -1 in the database: expected no tag, got tag ""',
      ({ tag = '' }) => ({ tag }),
    ),
    'trims a tag that differs from the name': changing(
      'plant 2 in the database: expected tag',
      ({ name, tag }) => ({ tag: tag === name ? tag : tag?.trim() }),
    ),
  },
  'distinguishes ids across the whole range of int64': Object.fromEntries(
    Object.entries(TYPES).map(([how, convert]) => [
      `keeps ids ${how}`,
      changing('expected', ({ id }) => ({ id: convert(id) })),
    ]),
  ),
};
