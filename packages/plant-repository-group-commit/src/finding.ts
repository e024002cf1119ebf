/**
 * Whether an insert has written a plant. `id exists`: another `add`, or an earlier insert of this one, has written a
 * plant with the id. Only its mark tells which.
 */
export type Written = 'yes' | 'no' | 'unknown' | 'id exists';

/**
 * Who must act before a plant can be stored: nobody, because the problem passes; the plant, because it is refused itself;
 * the batch, because one of its plants makes the insert fail; or an administrator.
 */
export type Actor = 'nobody' | 'plant' | 'batch' | 'administrator';

/** The answers to the two questions. */
export interface Meaning {
  readonly written: Written;
  readonly mustAct: Actor;
  /** What operators are told about the storage when a check finds this; the message of the cause if absent. */
  readonly storage?: string;
}

/**
 * Everything that a server can say about an insert, a check or a read, and what it means. All an adapter decides is which
 * of these words a server's code stands for.
 */
export const FINDINGS = {
  /** The plant is durable. */
  stored: { written: 'yes', mustAct: 'nobody' },
  'id exists': { written: 'id exists', mustAct: 'nobody' },
  /** The plant may be written, now or later, or may be rolled back. Also any reply that an adapter does not recognise. */
  unknown: { written: 'unknown', mustAct: 'nobody', storage: 'accepts no plants' },
  /** No reply: what was sent may still arrive. */
  'no server': { written: 'unknown', mustAct: 'nobody', storage: 'is not reachable' },
  /** A server replies that it accepts no plants now. */
  'not now': { written: 'no', mustAct: 'nobody', storage: 'accepts no plants' },
  /** A server accepts plants, but some of them get no outcome in time. Only checks find this. */
  slow: { written: 'no', mustAct: 'nobody', storage: 'is slow' },
  'batch refused': { written: 'no', mustAct: 'batch' },
  /** A rule of an administrator or a limit of the server refuses the plant. */
  'plant refused': { written: 'no', mustAct: 'plant' },
  'credentials refused': {
    written: 'no',
    mustAct: 'administrator',
    storage: 'refuses the credentials',
  },
  /** A permission or the table is missing, or the storage would lose plants. */
  unusable: { written: 'no', mustAct: 'administrator' },
} as const satisfies Readonly<Record<string, Meaning>>;

export type Finding = keyof typeof FINDINGS;

/** A plant with the id is committed, with this mark; `undefined` if another program wrote it. */
export interface Committed {
  readonly committedMark: string | undefined;
}

/** Why the server refuses the plant, without any of its values. */
export interface Refusal {
  /** The server's own error code. */
  readonly code: number | string;
  readonly reason: string;
}

/** What an insert has found out about one plant. */
export type InsertOutcome = Exclude<Finding, 'plant refused'> | Committed | Refusal;

/** Returns whether the plant is written, and who must act. */
export function meaningOf(found: Finding | InsertOutcome): Meaning {
  if (typeof found === 'string') return FINDINGS[found];
  return FINDINGS['committedMark' in found ? 'id exists' : 'plant refused'];
}
