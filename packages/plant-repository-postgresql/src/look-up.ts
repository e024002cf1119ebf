import { markOf, type PlantRow } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlStoreError } from './postgresql-error.js';
import { hasPlant, LOOK_UP, type WithSettings } from './statements.js';

type LookedUp = WithSettings<Pick<PlantRow, 'id' | 'mark'>> & {
  readonly is_kept: boolean;
  readonly may_hide: boolean;
};

export interface FoundRows {
  readonly marks: ReadonlyMap<bigint, string | undefined>;
  /** Whether the server would have kept plants that were inserted. */
  readonly isKept: boolean;
  /** Whether row-level security may hide plants from the role. */
  readonly mayHide: boolean;
}

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
export const readsReachStandby = () =>
  new PostgresqlStoreError(
    'no look-ups',
    'reads reach a standby, but inserts reach the primary, so existing ids cannot be looked up. Let the connection pooler send every statement to the primary (25006)',
    { reconnects: true },
    '25006',
  );

/** Looks up the marks of plants by their ids, and makes those plants durable. Rejects on a standby. */
export async function lookUp(client: PlantClient, ids: readonly bigint[]): Promise<FoundRows> {
  const { rows } = await client.runDurably<LookedUp>({ text: LOOK_UP, values: [ids] });
  if (rows[0]?.in_recovery) throw readsReachStandby();
  const marks = rows.filter(hasPlant).map((row) => [BigInt(row.id), markOf(row)] as const);
  const { is_kept: isKept = false, may_hide: mayHide = false } = rows[0] ?? {};
  return { marks: new Map(marks), isKept, mayHide };
}
