import type { Create, Reported } from './clients.js';

/** What responses reported, in quotes, and what is stored: the words of the table. */
export const OUTCOMES = {
  stored: '"stored", and stored',
  storedNotFailed: '"failed", but stored',
  lostNotStored: '"stored", but lost',
  failed: '"failed", not stored',
  unknownStored: '"unknown", stored',
  unknownNotStored: '"unknown", not stored',
} as const;

export type ComparedOutcome = keyof typeof OUTCOMES;

/** The outcomes of a wrong response. */
export const WRONG: readonly ComparedOutcome[] = ['storedNotFailed', 'lostNotStored'];

/** How many creates have each outcome. */
export type Tally = Readonly<Record<ComparedOutcome, number>>;

const IF_STORED: Readonly<Record<Reported, ComparedOutcome>> = {
  stored: 'stored',
  failed: 'storedNotFailed',
  unknown: 'unknownStored',
};

const IF_NOT: Readonly<Record<Reported, ComparedOutcome>> = {
  stored: 'lostNotStored',
  failed: 'failed',
  unknown: 'unknownNotStored',
};

/** Returns the outcome of a create. `ids` are the ids that are stored. */
export function comparedOutcome(
  { id, reported }: Create,
  ids: ReadonlySet<number>,
): ComparedOutcome {
  return ids.has(id) ? IF_STORED[reported] : IF_NOT[reported];
}

/** Counts each create once. */
export function tally(creates: readonly Create[], ids: ReadonlySet<number>): Tally {
  const counts: Record<ComparedOutcome, number> = {
    stored: 0,
    storedNotFailed: 0,
    lostNotStored: 0,
    failed: 0,
    unknownStored: 0,
    unknownNotStored: 0,
  };
  for (const create of creates) counts[comparedOutcome(create, ids)] += 1;
  return counts;
}
