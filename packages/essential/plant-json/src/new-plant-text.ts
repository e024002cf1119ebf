import type { NewPlant } from '@plant-store/domain';

/** Returns a plant as JSON on one line, with all digits of its id, as `newPlantParser` parses it. */
export function newPlantText({ id, ...fields }: NewPlant): string {
  return `{"id":${id},${JSON.stringify(fields).slice(1)}`;
}
