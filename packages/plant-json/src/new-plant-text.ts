import type { NewPlant } from '@plant-store/domain';

/**
 * Returns a plant as JSON text on one line, exactly as `newPlantParser` parses it: the id with all its digits, an
 * absent tag absent.
 */
export function newPlantText({ id, name, tag }: NewPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}`;
}
