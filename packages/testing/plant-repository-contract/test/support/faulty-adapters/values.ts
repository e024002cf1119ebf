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

/** Ids at the limits of what computers count. */
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
    IDS.map((mistaken) => [
      `confuses ${mistaken} with another id`,
      changing(`plant ${mistaken} in the database: expected id`, ({ id }) => ({
        id: id === mistaken ? id ^ (1n << 40n) : id,
      })),
    ]),
  ),
};
