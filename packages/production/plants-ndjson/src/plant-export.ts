import type { NewPlant, PlantId } from '@plant-store/domain';
import { newPlantText } from '@plant-store/plant-json';
import type { PlantPages } from '@plant-store/plant-reader';

export interface PlantExportOptions {
  readonly pages: PlantPages;
  /** Milliseconds that reading a page may take. An outage within this time causes no error. */
  readonly timeLimitMs: number;
  /** The export starts after this id; by default, at the smallest id. */
  readonly after?: PlantId | undefined;
  /** The maximum number of plants to export. All by default. */
  readonly limit?: number | undefined;
  /** Ends the export, even while it waits for a page: it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ExportedPage {
  /** One NewPlant per line, in id order. */
  readonly lines: string;
  readonly plants: number;
  /** The id after which to resume once these lines are written. */
  readonly last: PlantId;
}

/** The maximum number of plants on a page. Two pages are in memory: one is read while the other is written. */
const PAGE = 10_000;

/** Yields all plants as newline-delimited JSON, in id order. Rejects as `PlantPages.read` does. */
export async function* exportPages(options: PlantExportOptions): AsyncGenerator<ExportedPage> {
  const { pages, timeLimitMs, signal } = options;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  const read = (after: PlantId | undefined): Promise<readonly NewPlant[]> => {
    const page = { after, limit: Math.min(PAGE, left) };
    const reading = pages.read(page, timeLimitMs);
    // Writing the previous page may fail before this one is awaited.
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

/**
 * Settles like the promise, or rejects as soon as the signal aborts. `Promise.race` would keep every page in memory
 * until then.
 */
function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    const settle = () => signal?.removeEventListener('abort', abort);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    promise.then(resolve, reject).then(settle);
  });
}
