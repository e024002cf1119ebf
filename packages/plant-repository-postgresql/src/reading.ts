import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type { ExaminedTable } from './examined-table.js';
import { markOf, type PlantRow, plantOf } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { PostgresqlError } from './server-error.js';
import { LOOK_UP } from './statements.js';
import { MAY_LAG } from './table.js';

/** The maximum number of plants on a page. */
const MAX_PAGE = 1_000;

interface Recovery {
  readonly in_recovery: boolean;
}

/** A row of settings is there without a plant as well. */
type Nullable<Row> = Omit<Row, 'id'> & { readonly id: string | null };

const isRow = <Row extends { id: string | null }>(row: Row): row is Row & { id: string } =>
  row.id !== null;

interface LookedUp extends Nullable<Pick<PlantRow, 'id' | 'mark'>>, Recovery {
  readonly is_kept: boolean;
}

/** What a look-up has found. */
export interface Found {
  readonly marks: ReadonlyMap<bigint, string | undefined>;
  /** Whether the server would have kept plants that were inserted. */
  readonly isKept: boolean;
}

/** A standby may lag behind the primary that a connection pooler sends inserts to. */
export const readsReachStandby = () =>
  new PostgresqlError(
    'reads reach a standby and inserts the primary, so no id can be looked up. Let the connection pooler send every statement to the primary (25006)',
    { finding: 'no look-ups', reconnects: true },
    '25006',
  );

/** Looks up the marks of plants by their ids. Rejects on a standby. */
export async function lookUp(client: PlantClient, ids: readonly bigint[]): Promise<Found> {
  const { rows } = await client.committed<LookedUp>({ text: LOOK_UP, values: [ids] });
  if (rows[0]?.in_recovery) throw readsReachStandby();
  const marks = rows.filter(isRow).map((row) => [BigInt(row.id), markOf(row)] as const);
  return { marks: new Map(marks), isKept: rows[0]?.is_kept === true };
}

/** Reads a page. On a standby, warns that plants may be missing. */
export async function readPage(
  client: PlantClient,
  table: ExaminedTable,
  { after, limit }: PageRequest,
): Promise<readonly NewPlantFields[]> {
  const values = [after ?? null, Math.min(limit, MAX_PAGE)];
  const page = { text: table.statements.page, values };
  const { rows } = await client.committed<Nullable<PlantRow> & Recovery>(page);
  if (rows[0]?.in_recovery) table.warn(MAY_LAG);
  return rows.filter(isRow).map(plantOf);
}
