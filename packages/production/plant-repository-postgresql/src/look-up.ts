import type { InsertResult, PlantFinding } from '@plant-store/plant-repository-group-commit';
import { type MarkedPlant, markOf, type PlantRow } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlStoreError } from './postgresql-error.js';
import { hasPlant, LOOK_UP, type WithSettings } from './statements.js';

type LookedUp = WithSettings<Pick<PlantRow, 'id' | 'mark'>> & {
  /** Whether the server would have kept plants that were inserted. */
  readonly is_kept: boolean;
  /** Whether row-level security may hide plants from the role. */
  readonly may_hide: boolean;
};

const NOT_INSERTED = {
  finding: 'plant refused',
  code: 'no row was inserted',
  reason: 'a trigger or policy on the table prevented the insert',
} as const;

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
export const readsReachStandby = () =>
  new PostgresqlStoreError(
    'no look-ups',
    'reads reach a standby, but inserts reach the primary, so existing ids cannot be looked up. Let the connection pooler send every statement to the primary (25006)',
    { reconnects: true },
    '25006',
  );

const hidden = () =>
  new PostgresqlStoreError(
    'unusable',
    'row-level security hides the row with this id from the role, or a trigger prevented the insert. The policies for SELECT must show it every row',
  );

/**
 * Looks up what became of plants of which not every one was inserted, and makes those durable that it finds. Rejects on a
 * standby.
 */
export async function lookUp(
  client: PlantClient,
  plants: readonly MarkedPlant[],
): Promise<InsertResult> {
  const values = [plants.map(({ plant }) => plant.id)];
  const { rows } = await client.runDurably<LookedUp>({ text: LOOK_UP, values });
  const { in_recovery, is_kept = false, may_hide = false } = rows[0] ?? {};
  if (in_recovery) throw readsReachStandby();
  const marks = new Map(rows.filter(hasPlant).map((row) => [BigInt(row.id), markOf(row)]));
  const findings = plants.map(({ plant: { id }, mark }): PlantFinding => {
    if (marks.get(id) === mark) return 'stored';
    if (!is_kept) return 'not now';
    if (marks.has(id)) return 'taken';
    return may_hide ? 'unusable' : NOT_INSERTED;
  });
  return { findings, ...(findings.includes('unusable') && { error: hidden() }) };
}
