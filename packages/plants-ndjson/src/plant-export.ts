import type { Client, NewPlant, PlantId, ReadPlants } from '@plant-store/domain';
import { newPlantText } from '@plant-store/plant-json';

/** The options of an export. */
export interface PlantExportOptions {
  readonly readPlants: ReadPlants;
  readonly client: Client;
  /** The longest time to read one page, in milliseconds. An outage within it costs time, not an error. */
  readonly timeLimitMs: number;
  /** The export begins with the first id above this one; without it, with the smallest id. */
  readonly after?: PlantId | undefined;
  /** The maximum number of plants to export. All by default. */
  readonly limit?: number | undefined;
  /** Ends the export, also while it waits for a page: it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Some plants of an export. */
export interface ExportedPage {
  /** A NewPlant a line, in the order of their ids. */
  readonly lines: string;
  readonly plants: number;
  /** The last id, after which an export that has written these lines resumes. */
  readonly last: PlantId;
}

/** Two pages are in memory at a time: one is read while the other is written. */
const PAGE = 10_000;

/** Yields all plants as newline-delimited JSON, in the order of their ids. Rejects as `ReadPlants` does. */
export async function* exportPages(options: PlantExportOptions): AsyncGenerator<ExportedPage> {
  const { readPlants, client, timeLimitMs, signal } = options;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  const read = (after: PlantId | undefined): Promise<readonly NewPlant[]> => {
    const page = { after, limit: Math.min(PAGE, left) };
    const reading = readPlants.execute(client, page, timeLimitMs);
    // It is awaited only after the page before it was written, which may fail first.
    reading.catch(() => undefined);
    return reading;
  };
  let reading: Promise<readonly NewPlant[]> | undefined = read(options.after);
  while (reading !== undefined) {
    const page: readonly NewPlant[] = await unlessAborted(reading, signal);
    const last = page.at(-1)?.id;
    if (last === undefined) return;
    left -= page.length;
    reading = left > 0 ? read(last) : undefined;
    const lines = page.map((plant) => `${newPlantText(plant)}\n`).join('');
    yield { lines, plants: page.length, last };
  }
}

/** Settles as the promise does, or rejects with the reason of the signal. One race for all pages would keep every page. */
function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    const settle = () => signal?.removeEventListener('abort', abort);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    promise.then(resolve, reject).then(settle);
  });
}
