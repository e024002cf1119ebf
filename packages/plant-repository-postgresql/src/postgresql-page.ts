import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type { Warnings } from '@plant-store/plant-repository-group-commit';
import type { ExaminedTable } from './examined-table.js';
import { type PlantRow, plantOf } from './plant-row.js';
import type { PlantClient } from './plant-store-client.js';
import { hasPlant, type WithSettings } from './statements.js';
import { MAY_LAG } from './table.js';

/** The maximum number of plants on a page. */
const MAX_PAGE = 1_000;

/** Reads a page, and makes its plants durable. On a standby, warns that plants may be missing. */
export async function readPage(
  client: PlantClient,
  table: ExaminedTable,
  warnings: Warnings,
  { after, limit }: PageRequest,
): Promise<readonly NewPlantFields[]> {
  const values = [after ?? null, Math.min(limit, MAX_PAGE)];
  const page = { text: table.statements.page, values };
  const { rows } = await client.runDurably<WithSettings<PlantRow>>(page);
  if (rows[0]?.in_recovery) warnings.report(MAY_LAG);
  return rows.filter(hasPlant).map(plantOf);
}
