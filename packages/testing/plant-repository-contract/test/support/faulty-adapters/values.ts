import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import type { CorrectStore } from '../correct-store.js';

/** A store that changes fields of each plant. */
const changing =
  (failure: string, change: CorrectStore['change']): Defect<CorrectStore> =>
  () => ({ failure, change });

const changingTag = (expected: string, change: (tag: string) => string | undefined) =>
  changing(expected, ({ tag = '' }) => ({ tag: change(tag) }));

/** Defects about values, by the case that catches them. */
export const values: FaultyAdapters<CorrectStore> = {
  'stores every name and tag exactly, and an absent tag as absent': {
    'normalises names': changing('in the database: expected name "', ({ name }) => ({
      name: name.normalize('NFC'),
    })),
    'stores at most 32 KiB of a tag': changingTag('in the database: expected tag "', (tag) =>
      tag.slice(0, 32_768),
    ),
    'stores an absent tag as an empty one': changingTag('expected no tag, got tag ""', String),
  },
  'distinguishes ids across the whole range of int64': {
    'keeps ids as doubles': changing('expected', ({ id }) => ({
      id: BigInt.asIntN(64, BigInt(Number(id))),
    })),
  },
};
