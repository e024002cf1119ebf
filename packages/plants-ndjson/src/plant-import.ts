import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import {
  type Client,
  type CreatePlant,
  type NewPlant,
  PermissionDeniedError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { newPlantParser } from '@plant-store/plant-json';
import {
  type ImportProgress,
  type LineOutcome,
  LineTooLargeError,
  lineOutcome,
  type Reject,
  rejected,
  Tally,
} from './line-outcome.js';
import { type Line, readLines } from './read-lines.js';

/** The options of a {@link PlantImport}. */
export interface PlantImportOptions {
  readonly createPlant: CreatePlant;
  readonly client: Client;
  /**
   * How long the outcome of a line is waited for, in milliseconds. A create keeps its mark for this time, so a pause of
   * the storage costs time, not the outcome.
   */
  readonly timeLimitMs: number;
  /** The largest line in bytes, without its line ending. */
  readonly maxLineBytes: number;
  /** The first line that is imported; earlier ones are skipped. 1 by default. */
  readonly fromLine?: number;
  /**
   * Called with each line that was not stored, in order. Returns whether it has recorded the line; a resumed
   * import then skips it. An error that it throws ends the import.
   */
  readonly record: (reject: Reject) => boolean;
  /** Called with every unexpected error, which is a bug. */
  readonly failed: (line: number, cause: unknown) => void;
}

/** Two halves are under way, which fill four batches of 1,000 plants. More lines would only use more memory. */
const HALF_LINES = 2_000;
/** A larger line takes the place of several, which limits the memory. */
const LINE_BYTES = 2 ** 14;

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/** The result of a line. */
type Result = 'stored' | 'blank' | { readonly error: unknown };

const parseNewPlant = newPlantParser('the line');

/**
 * Imports plants from newline-delimited JSON, one NewPlant a line. Creates many plants concurrently, and reports
 * their outcomes in the order of the lines. The memory it uses does not depend on the length of the input or of a
 * line.
 */
export class PlantImport {
  readonly #options: PlantImportOptions;
  readonly #stopping = new AbortController();
  readonly #tally = new Tally();
  #pending = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #pause: Promise<void> | undefined;
  #problem: { readonly cause: unknown } | undefined;

  constructor(options: PlantImportOptions) {
    this.#options = options;
  }

  /** The outcomes so far. */
  get progress(): ImportProgress {
    const { outcomes, bytes, nextLine } = this.#tally;
    return { outcomes: { ...outcomes }, pending: this.#pending, bytes, nextLine };
  }

  /**
   * Imports the input. Resolves when every line that was read has an outcome: with true at the end of the input,
   * with false after {@link stop}. May be called once.
   *
   * Rejects with `PermissionDeniedError`, or with the error of the input or of `record`, once the creates under
   * way have settled.
   */
  async run(input: Readable): Promise<boolean> {
    this.#stopping.signal.addEventListener('abort', () => input.destroy());
    const hasEnded = !this.#isStopping && (await this.#read(input));
    if (this.#problem !== undefined) throw this.#problem.cause;
    return hasEnded;
  }

  /** Stops the import: reads no further, and waits for the creates under way. Nothing is tried again. */
  stop(): void {
    this.#stopping.abort();
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves once every line that was read has an outcome, with whether the end of the input was reached. */
  async #read(input: Readable): Promise<boolean> {
    const { fromLine = 1, maxLineBytes } = this.#options;
    let accounted = Promise.resolve();
    let firstHalf = accounted;
    let places = HALF_LINES;
    try {
      for await (const line of readLines(input, maxLineBytes)) {
        if (this.#isStopping) break;
        if (line.number < fromLine) this.#tally.skip(line);
        else accounted = this.#import(line, accounted);
        places -= Math.max(1, (line.bytes?.length ?? 0) / LINE_BYTES);
        if (places > 0) continue;
        await firstHalf;
        [firstHalf, places] = [accounted, HALF_LINES];
      }
    } catch (error) {
      // `stop` destroys the input, which its reader sees as an error.
      if (!this.#isStopping) this.#fail(error);
    }
    const hasEnded = !this.#isStopping;
    await accounted;
    return hasEnded;
  }

  /** Begins to create the plant of a line at once. Resolves when its outcome is counted, after those `before` it. */
  async #import(line: Line, before: Promise<void>): Promise<void> {
    this.#pending += 1;
    const result = await this.#result(line);
    this.#pending -= 1;
    await before;
    if (result === 'blank') this.#tally.skip(line);
    else if (result === 'stored') this.#tally.count(line, result);
    else this.#reject(line, result.error);
  }

  async #result(line: Line): Promise<Result> {
    try {
      const plant = parsedPlant(line);
      if (plant === undefined) return 'blank';
      await this.#create(plant);
      return 'stored';
    } catch (error) {
      return { error };
    }
  }

  /** Rejects as `CreatePlant` does. A plant that is not stored is tried again, since that needs no mark. */
  async #create(plant: NewPlant): Promise<void> {
    const { createPlant, client, timeLimitMs } = this.#options;
    const end = performance.now() + timeLimitMs;
    for (;;) {
      try {
        await createPlant.execute(client, plant, end - performance.now());
        this.#pauseMs = FIRST_PAUSE_MS;
        return;
      } catch (error) {
        const isStorable = error instanceof StorageUnavailableError && performance.now() < end;
        if (isStorable) await this.#backOff();
        if (!isStorable || this.#isStopping) throw error;
      }
    }
  }

  /** Pauses once for all lines that wait: twice as long each time. {@link stop} ends the pause. */
  #backOff(): Promise<void> {
    if (this.#pause === undefined) {
      const pause = setTimeout(this.#pauseMs, undefined, { signal: this.#stopping.signal });
      this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
      const ended = () => {
        this.#pause = undefined;
      };
      this.#pause = pause.then(ended, ended);
    }
    return this.#pause;
  }

  #reject(line: Line, error: unknown): void {
    const outcome = lineOutcome(error);
    if (error instanceof PermissionDeniedError) this.#fail(error);
    else if (outcome === 'failed') this.#options.failed(line.number, error);
    if (!this.#needsNoRepeat(line, error, outcome)) this.#tally.leaveGap();
    this.#tally.count(line, outcome);
  }

  /** Whether a resumed import can skip the line: it was recorded, or would fail again. */
  #needsNoRepeat(line: Line, error: unknown, outcome: LineOutcome): boolean {
    if (this.#problem !== undefined) return false;
    try {
      const isRecorded = this.#options.record(rejected(line, error));
      return isRecorded || outcome === 'taken' || outcome === 'invalid';
    } catch (cause) {
      this.#fail(cause);
      return false;
    }
  }

  #fail(cause: unknown): void {
    this.#problem ??= { cause };
    this.stop();
  }
}

/** Returns the plant of a line; `undefined` for a line of white space (RFC 8259 section 2). */
function parsedPlant({ bytes }: Line): NewPlant | undefined {
  if (bytes === undefined) throw new LineTooLargeError();
  const isBlank = bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
  return isBlank ? undefined : parseNewPlant(bytes);
}
