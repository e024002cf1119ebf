/**
 * Whether an insert has written a plant. `id exists`: a plant with the id is there, of another `add` or of an earlier
 * insert of this one. Only the marks tell which.
 */
export type Written = 'yes' | 'no' | 'unknown' | 'id exists';

/**
 * Who must act before a plant can be stored: nobody, because it passes; the client, because of its plant; the batch, one
 * of whose plants is the reason; or an administrator.
 */
export type Actor = 'nobody' | 'plant' | 'batch' | 'administrator';

/** The answers to the two questions. */
export interface Meaning {
  readonly written: Written;
  readonly mustAct: Actor;
  /** Describes a storage whose check has found this, for operators. Without it, the cause does. */
  readonly storage?: string;
}

/**
 * Everything that a server can say about an insert, a check or a read, and what it means. Adapters translate a server's
 * codes into one of these words, and decide nothing else.
 */
export const FINDINGS = {
  /** It is durable. */
  stored: { written: 'yes', mustAct: 'nobody' },
  'id exists': { written: 'id exists', mustAct: 'nobody' },
  /** It may be written, now or later, or may be rolled back. What no row describes is unknown. */
  unknown: { written: 'unknown', mustAct: 'nobody', storage: 'accepts no plants' },
  /** No reply: what was sent may arrive. */
  'no server': { written: 'unknown', mustAct: 'nobody', storage: 'is not reachable' },
  /** A server replies, and accepts no plants now. */
  'not now': { written: 'no', mustAct: 'nobody', storage: 'accepts no plants' },
  /** A server accepts plants, but does not acknowledge them in time. */
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

/** A plant with the id is committed, with this mark; `undefined` for one of another program. */
export interface Committed {
  readonly committedMark: string | undefined;
}

/** The plant is refused. Contains no value of the plant. */
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
