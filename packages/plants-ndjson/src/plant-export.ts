import type { Client, NewPlant, PlantId, ReadPlants } from '@plant-store/domain';
import { newPlantText } from '@plant-store/plant-json';

/** The options of a {@link PlantExport}. */
export interface PlantExportOptions {
  readonly readPlants: ReadPlants;
  readonly client: Client;
  /** The longest time to read one page, in milliseconds. An outage within it costs time, not an error. */
  readonly timeLimitMs: number;
  /** The export begins with the first id above this one; without it, with the smallest id. */
  readonly after?: PlantId | undefined;
  /** The most plants to export. All by default. */
  readonly limit?: number | undefined;
}

/** The progress of an export. */
export interface ExportProgress {
  /** How many plants were written. */
  readonly plants: number;
  /** The last id that was written, after which to resume; `after` before the first one. */
  readonly last: PlantId | undefined;
}

/** Receives whole lines. Resolves when it accepts further ones, which limits the memory. */
export type WriteLines = (lines: string) => Promise<void>;

/** Two pages are in memory at a time: one is read while the other is written. */
const PAGE = 10_000;

/** Exports plants as newline-delimited JSON, one NewPlant a line, in the order of their ids. */
export class PlantExport {
  readonly #options: PlantExportOptions;
  #isStopped = false;
  /** Ends the wait for a page: while the storage is unreachable, it takes until the time limit. */
  #interrupt = () => {};
  #plants = 0;
  #last: PlantId | undefined;

  constructor(options: PlantExportOptions) {
    this.#options = options;
    this.#last = options.after;
  }

  /** The plants that were written so far. */
  get progress(): ExportProgress {
    return { plants: this.#plants, last: this.#last };
  }

  /**
   * Exports the plants. Resolves with true after the last one, with false after {@link stop}. May be called once.
   *
   * Rejects as `ReadPlants` does, or with the error of `write`. {@link progress} is then where to resume.
   */
  async run(write: WriteLines): Promise<boolean> {
    let reading = this.#read(this.#last, 0);
    for (;;) {
      const page = await this.#unlessStopped(reading);
      const last = page?.at(-1)?.id;
      if (page === undefined || last === undefined) return page !== undefined;
      reading = this.#read(last, page.length);
      await write(page.map((plant) => `${newPlantText(plant)}\n`).join(''));
      this.#plants += page.length;
      this.#last = last;
    }
  }

  /** Stops the export after the lines that are being written. */
  stop(): void {
    this.#isStopped = true;
    this.#interrupt();
  }

  /** Settles as the promise does, but resolves with `undefined` as soon as the export is stopped. */
  #unlessStopped<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(undefined);
      if (this.#isStopped) this.#interrupt();
      promise.then(resolve, reject);
    });
  }

  /** Reads the page after an id. @param unwritten How many plants were read and are not counted yet. */
  #read(after: PlantId | undefined, unwritten: number): Promise<readonly NewPlant[]> {
    const { readPlants, client, timeLimitMs, limit = Number.POSITIVE_INFINITY } = this.#options;
    const left = Math.min(PAGE, limit - this.#plants - unwritten);
    if (left <= 0) return Promise.resolve([]);
    const reading = readPlants.execute(client, { after, limit: left }, timeLimitMs);
    // It is awaited only after the page before it was written, which may fail first.
    reading.catch(() => undefined);
    return reading;
  }
}
