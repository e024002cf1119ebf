/** What a finding means: the answers to two questions, and what operators read. */
interface Answers {
  /**
   * Is the plant written? `id exists`: another `add`, or an earlier insert of this one, has written a plant with the id.
   * Only its mark tells which.
   */
  readonly written: 'yes' | 'no' | 'unknown' | 'id exists';
  /**
   * Who must act before the plant can be stored? Nobody, because the problem passes; the plant, because it is refused
   * itself; the batch, because one of its plants makes the insert fail; or an administrator.
   */
  readonly mustAct: 'nobody' | 'plant' | 'batch' | 'administrator';
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
  /** A plant with the id is committed. */
  'id exists': { written: 'id exists', mustAct: 'nobody' },
  /** Another insert has the id, or may have it: its plant may not be durable yet, and may be rolled back. */
  'id may exist': { written: 'id exists', mustAct: 'nobody' },
  /** The plant may be written, now or later, or may be rolled back. Also any reply that an adapter does not recognise. */
  unknown: {
    written: 'unknown',
    mustAct: 'nobody',
    database: 'accepts no plants',
    slowsRetries: true,
  },
  /** No reply: what was sent may still arrive. */
  'no server': { written: 'unknown', mustAct: 'nobody', database: 'is not reachable' },
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
  'batch refused': { written: 'no', mustAct: 'batch' },
  /** A rule of an administrator or a limit of the server refuses the plant. */
  'plant refused': { written: 'no', mustAct: 'plant' },
  'credentials refused': {
    written: 'no',
    mustAct: 'administrator',
    database: 'refuses the credentials',
  },
  /** A permission or the table is missing, or the database would lose plants. */
  unusable: { written: 'no', mustAct: 'administrator' },
} as const satisfies Readonly<Record<string, Answers>>;

/** What a server says. The outcome of an `add` follows from the findings about its plant. */
export type Finding = keyof typeof FINDINGS;

/** A plant with the id is committed, with this mark; `undefined` if another program wrote it. */
interface IdExists {
  readonly finding: 'id exists';
  readonly committedMark: string | undefined;
}

/** Why the server refuses the plant, without any of its values. */
interface PlantRefused {
  readonly finding: 'plant refused';
  /** The server's own error code. */
  readonly code: number | string;
  readonly reason: string;
}

/** What a server adds to a finding about one plant. */
export type PlantFacts = IdExists | PlantRefused;

/** A finding without such facts. */
export type DatabaseFinding = Exclude<Finding, PlantFacts['finding']>;

/** What an insert finds out about one plant: a finding, and what the server adds to it. */
export type PlantFinding = DatabaseFinding | PlantFacts;

/** Returns whether a plant is written, and who must act. */
export function answersOf(found: Finding | PlantFinding): Answers {
  return FINDINGS[typeof found === 'string' ? found : found.finding];
}

/**
 * Returns whether only the mark that is committed under the plant's id tells what became of it. So it is with a plant
 * that is refused: an earlier insert may have written it, before the database had the rule that refuses it.
 */
export function needsLookUp(found: PlantFinding): boolean {
  const { written, mustAct } = answersOf(found);
  return written === 'id exists' || mustAct === 'plant';
}
