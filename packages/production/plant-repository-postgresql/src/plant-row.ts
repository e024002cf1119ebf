import type { NewPlant, NewPlantFields, Plant } from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';

/** A plant to be inserted, and the mark by which its insert recognises it later. */
export interface MarkedPlant {
  readonly plant: NewPlant;
  readonly mark: string;
}

/** A row of the table. The driver reads a `bigint` as text, and other programs write any mark, or none. */
export type PlantRow = Readonly<Record<'id', string> & Record<keyof Plant | 'mark', string | null>>;

/** Returns what `of` returns for each field of a plant. Does not compile if a field of the domain is missing. */
export function eachField<Value>(of: (field: keyof Plant) => Value): Record<keyof Plant, Value> {
  return { name: of('name'), tag: of('tag') };
}

const FIELDS = Object.values(eachField((it) => it));

/**
 * Returns the row of a plant. A `text` column can hold any string that does not contain U+0000. When a field has one,
 * `\0` stands for U+0000 and `\\` for a backslash in every field, and the version of the mark is 8 instead of 4.
 */
export function rowOf({ plant, mark }: MarkedPlant): PlantRow {
  const row = { id: `${plant.id}`, ...eachField((it) => plant[it] ?? null), mark };
  if (!FIELDS.some((it) => row[it]?.includes('\0'))) return row;
  const escapedFields = eachField((it) => row[it] && escaped(row[it]));
  return { ...row, ...escapedFields, mark: version(mark, '8') };
}

/** Returns the plant of a row, or throws `UnreadablePlantError`. */
export function plantOf(row: PlantRow): Required<NewPlantFields> {
  const isEscaped = row.mark?.[14] === '8';
  const stored = eachField((it) => row[it] ?? undefined);
  const isUnknown = isEscaped && FIELDS.some((it) => hasOtherEscape(stored[it] ?? ''));
  const texts = isEscaped ? eachField((it) => stored[it] && unescaped(stored[it])) : stored;
  const { name, ...others } = texts;
  if (name !== undefined && !isUnknown) return { id: BigInt(row.id), name, ...others };
  throw new UnreadablePlantError(
    `the row with the id ${row.id} is not a plant: another program wrote it. Remove it or correct it`,
  );
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
