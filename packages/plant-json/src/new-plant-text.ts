import type { NewPlant } from '@plant-store/domain';

/**
 * Returns a plant as JSON text on one line, exactly as `newPlantParser` parses it: the id with all its digits, an
 * absent tag absent.
 */
export function newPlantText({ id, ...fields }: NewPlant): string {
  return `{"id":${id},${JSON.stringify(fields).slice(1)}`;
}
