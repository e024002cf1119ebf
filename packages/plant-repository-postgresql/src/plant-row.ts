import { type NewPlantFields, type Plant, UnreadablePlantError } from '@plant-store/domain';
import type { MarkedPlant } from '@plant-store/plant-repository-group-commit';

/** A row of the table. The driver reads a `bigint` as text, and other programs write any mark, or none. */
export type PlantRow = Readonly<Record<'id', string> & Record<keyof Plant | 'mark', string | null>>;

/**
 * Returns the row of a plant. A `text` column can hold any string that does not contain U+0000. When the name or the
 * tag has one, `\0` stands for U+0000 and `\\` for a backslash in both, and the version of the mark is 8 instead of 4.
 */
export function rowOf({ plant: { id, name, tag }, mark }: MarkedPlant): PlantRow {
  const row = { id: `${id}`, name, tag: tag ?? null, mark };
  if (!name.includes('\0') && !tag?.includes('\0')) return row;
  return {
    ...row,
    name: escaped(name),
    tag: row.tag && escaped(row.tag),
    mark: version(mark, '8'),
  };
}

/** Returns the plant of a row, or throws `UnreadablePlantError`. */
export function plantOf({ id, name, tag, mark }: PlantRow): Required<NewPlantFields> {
  const isEscaped = mark?.[14] === '8';
  if (name === null || (isEscaped && [name, tag ?? ''].some(hasOtherEscape))) {
    throw new UnreadablePlantError(
      `the row with the id ${id} is not a plant: another program wrote it. Remove it or correct it`,
    );
  }
  const text = isEscaped ? unescaped : (stored: string) => stored;
  return { id: BigInt(id), name: text(name), tag: tag === null ? undefined : text(tag) };
}

/** Returns the mark that a plant was given; `undefined` when another program wrote the row without one. */
export function markOf({ mark }: Pick<PlantRow, 'mark'>): string | undefined {
  return mark?.[14] === '8' ? version(mark, '4') : (mark ?? undefined);
}

function version(mark: string, digit: string): string {
  return mark.slice(0, 14) + digit + mark.slice(15);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, next) => (next === '0' ? '\0' : next));
}

function hasOtherEscape(text: string): boolean {
  return text.replace(/\\[\\0]/g, '').includes('\\');
}
