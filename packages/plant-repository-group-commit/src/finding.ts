/** What a finding means: for the plant, for whoever must act, and for operators. */
interface Meaning {
  /** Is the plant written? `taken`: no, because another plant has the id. */
  readonly written: 'yes' | 'no' | 'unknown' | 'taken';
  /**
   * Who must act before the plant can be stored? Nobody, because the problem passes; the plant, because it is refused
   * itself; or an administrator.
   */
  readonly mustAct: 'nobody' | 'plant' | 'administrator';
  /** What operators read about the database when a check finds this; the message of the cause if absent. */
  readonly database?: string;
  /** Whether plants are stored nevertheless. Only checks and look-ups find such a thing. */
  readonly accepts?: true;
  /** Whether each such reply doubles the pause before the next insert: the server may be limiting the rate. */
  readonly slowsRetries?: true;
}

/**
 * Everything that a server can say about an insert, a check or a read, and what it means. All an adapter decides is which
 * of these words a server's code stands for.
 */
const FINDINGS = {
  /** The plant is durable. */
  stored: { written: 'yes', mustAct: 'nobody' },
  /** Another plant has the id, and is durable. */
  taken: { written: 'taken', mustAct: 'nobody' },
  /** The plant may be written, now or later, or may be rolled back. Also any reply that an adapter does not recognise. */
  unknown: {
    written: 'unknown',
    mustAct: 'nobody',
    database: 'accepts no plants',
    slowsRetries: true,
  },
  /** No reply: what was sent may still arrive. */
  unreachable: { written: 'unknown', mustAct: 'nobody', database: 'is not reachable' },
  /** As `unreachable`, and nothing says why: a later check may find the reason. */
  'no response': { written: 'unknown', mustAct: 'nobody', database: 'is not reachable' },
  /** A server replies that it has written nothing, for a reason that passes. Also an insert that could not be sent. */
  'not now': {
    written: 'no',
    mustAct: 'nobody',
    database: 'accepts no plants',
    slowsRetries: true,
  },
  /** Writes are not acknowledged in time. */
  slow: { written: 'no', mustAct: 'nobody', database: 'is slow', accepts: true },
  /** Ids that exist cannot be looked up, because reads may miss plants that are stored. */
  'no look-ups': {
    written: 'no',
    mustAct: 'nobody',
    database: 'cannot look up plants',
    accepts: true,
  },
  /** A rule of an administrator or a limit of the server refuses the plant. */
  'plant refused': { written: 'no', mustAct: 'plant' },
  'credentials refused': {
    written: 'no',
    mustAct: 'administrator',
    database: 'refuses the credentials',
  },
  /** A permission or the table is missing, or the database would lose plants. */
  unusable: { written: 'no', mustAct: 'administrator' },
} as const satisfies Readonly<Record<string, Meaning>>;

/** What a server says. The outcome of an `add` follows from the findings about its plant. */
export type Finding = keyof typeof FINDINGS;

/** Why the server refuses the plant, without any of its values. */
export interface PlantRefused {
  readonly finding: 'plant refused';
  /** The server's own error code. */
  readonly code: number | string;
  readonly reason: string;
}

/** A finding without such facts. */
export type DatabaseFinding = Exclude<Finding, PlantRefused['finding']>;

/** What an insert finds out about one plant. */
export type PlantFinding = DatabaseFinding | PlantRefused;

/** Returns whether a plant is written, and who must act. */
export function meaningOf(found: Finding | PlantFinding): Meaning {
  return FINDINGS[typeof found === 'string' ? found : found.finding];
}
