import type { NewPlant } from '@plant-store/domain';

/** Returns a plant as JSON on one line, as `newPlantParser` parses it: all digits of the id, an absent tag absent. */
export function newPlantText({ id, ...fields }: NewPlant): string {
  return `{"id":${id},${JSON.stringify(fields).slice(1)}`;
}
