/** What a finding means: for the plant, and for operators. */
interface Meaning {
  /** Is the plant written? `taken`: no, because another plant has the id. */
  readonly written: 'yes' | 'no' | 'unknown' | 'taken';
  /** Whether an administrator must act before the plant can be stored. Without this, the problem passes. */
  readonly needsAdministrator?: true;
  /** What operators read about the database when a check finds this; the message of the cause if absent. */
  readonly database?: string;
  /** Whether plants are stored nevertheless. Only checks and look-ups find this. */
  readonly accepts?: true;
}

/**
 * Everything that a server can say about an insert, a check or a read, and what it means. All an adapter decides is which
 * of these words a server's code stands for.
 */
const FINDINGS = {
  /** The plant is durable. */
  stored: { written: 'yes' },
  /** Another plant has the id, and is durable. */
  taken: { written: 'taken' },
  /** The plant may be written, now or later, or may be rolled back. This includes any reply that an adapter does not recognise. */
  unknown: { written: 'unknown', database: 'accepts no plants' },
  /** No reply: what was sent may still arrive. */
  unreachable: { written: 'unknown', database: 'is not reachable' },
  /** As `unreachable`, and nothing says why: a later check may find the reason. */
  'no response': { written: 'unknown', database: 'is not reachable' },
  /** A server replies that it has written nothing, for a reason that passes. This includes an insert that could not be sent. */
  'not now': { written: 'no', database: 'accepts no plants' },
  /** Writes are not acknowledged in time. */
  slow: { written: 'no', database: 'is slow', accepts: true },
  /** Ids that exist cannot be looked up, because reads may miss plants that are stored. */
  'no look-ups': { written: 'no', database: 'cannot look up plants', accepts: true },
  /** A rule of an administrator or a limit of the server refuses the plant. */
  'plant refused': { written: 'no', needsAdministrator: true },
  'credentials refused': {
    written: 'no',
    needsAdministrator: true,
    database: 'refuses the credentials',
  },
  /** A permission or the table is missing, or the database would lose plants. */
  unusable: { written: 'no', needsAdministrator: true },
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

/** A finding that has no details about a single plant, unlike {@link PlantRefused}. */
export type DatabaseFinding = Exclude<Finding, PlantRefused['finding']>;

/** What an insert finds out about one plant. */
export type PlantFinding = DatabaseFinding | PlantRefused;

/** Returns whether a plant is written, and whether an administrator must act. */
export function meaningOf(found: Finding | PlantFinding): Meaning {
  return FINDINGS[typeof found === 'string' ? found : found.finding];
}
