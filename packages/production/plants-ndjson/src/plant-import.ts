import { isUtf8 } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  type NewPlant,
  type PlantCreator,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type CreateFailure, failuresOfCreate, newPlantParser } from '@plant-store/plant-json';
import { expectObject } from './first-line.js';
import { type Line, readLines } from './read-lines.js';

/** A line that was not stored. */
export interface Reject extends CreateFailure {
  readonly line: number;
  /** The text of the line. Absent when the line is larger than the limit, or not UTF-8. */
  readonly text?: string;
}

export interface PlantImportOptions {
  readonly creator: PlantCreator;
  /**
   * Milliseconds to wait for the outcome of a line. One create lasts as long, so its outcome survives a pause of the
   * database. The import ends if no plant is stored, or found to be taken, within this time.
   */
  readonly timeLimitMs: number;
  /** The maximum length of a line in bytes, without its line feed. */
  readonly maxLineBytes: number;
  /** The first line that is imported; earlier ones are skipped. 1 by default. */
  readonly fromLine?: number | undefined;
  /** Called in order with each line that was not stored, and with its cause if that is a bug. If it rejects, the import ends. */
  readonly reject: (reject: Reject, bug?: unknown) => Promise<void>;
  /** Stops the import: it reads no further, waits for creates in progress, and retries nothing. */
  readonly signal?: AbortSignal | undefined;
}

/** Two halves are in progress: enough to fill the batches of a store. More lines would only use more memory. */
const HALF_LINES = 2_000;
/** A larger line counts as several, which limits the memory. */
const LINE_BYTES = 2 ** 14;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

const parseNewPlant = newPlantParser('the line');
const { INTERNAL, ...others } = failuresOfCreate('the line');
const failures = new Map<string, CreateFailure>(Object.entries(others));

/**
 * Imports plants from newline-delimited JSON, one NewPlant a line. Creates many plants concurrently, and accounts for
 * them in the order of the lines. The memory it uses does not depend on the length of the input or of a line.
 */
export class PlantImport {
  readonly #options: PlantImportOptions;
  #stored = 0;
  readonly #rejected = new Map<number, number>();
  #nextLine: number;
  /** How many plants were stored or found to be taken, even in lines that are not accounted for yet. */
  #settled = 0;
  readonly #failing = new AbortController();
  readonly #ending: AbortSignal;

  constructor(options: PlantImportOptions) {
    this.#options = options;
    this.#nextLine = options.fromLine ?? 1;
    const { signal: failing } = this.#failing;
    this.#ending = options.signal ? AbortSignal.any([options.signal, failing]) : failing;
    // Every line that pauses listens.
    setMaxListeners(0, this.#ending);
  }

  get stored(): number {
    return this.#stored;
  }

  /** How many lines were not stored, by error number. */
  get rejected(): ReadonlyMap<number, number> {
    return this.#rejected;
  }

  /** Where to resume: every line before this one, from `fromLine` on, was stored or rejected. */
  get nextLine(): number {
    return this.#nextLine;
  }

  /**
   * Imports the input. May be called once. Resolves with the number of the last line, once every line is stored or
   * rejected.
   *
   * Rejects with {@link NotNdjsonError} before anything is stored, if the first non-blank line is not a JSON object
   * (not checked with `fromLine`). Rejects with the reason of the signal, or the error of the input or of `reject`,
   * once every line that was read is stored or rejected. Rejects with `StoreUnavailableError` after an outage, once
   * creates in progress have settled: `nextLine` is then the first line to import again.
   */
  async run(input: Readable): Promise<number> {
    const { fromLine = 1, maxLineBytes } = this.#options;
    const ending = this.#ending;
    ending.throwIfAborted();
    ending.addEventListener('abort', () => input.destroy());
    let accounted = Promise.resolve();
    let firstHalf = accounted;
    let places = HALF_LINES;
    let last = 0;
    let isKnown = fromLine > 1;
    try {
      for await (const line of readLines(input, maxLineBytes)) {
        if (ending.aborted) break;
        last = line.number;
        if (last < fromLine) continue;
        if (!isKnown && !isBlank(line)) {
          expectObject(line);
          isKnown = true;
        }
        accounted = this.#import(line, accounted);
        places -= Math.max(1, line.bytes.length / LINE_BYTES);
        if (places > 0) continue;
        await firstHalf;
        // Without this, lines that are rejected immediately would hold up signals and timers.
        await setImmediate();
        [firstHalf, places] = [accounted, HALF_LINES];
      }
    } finally {
      await accounted;
      // Ending the import destroys the input, which the loop sees as an error.
      ending.throwIfAborted();
    }
    return last;
  }

  /** Starts to create the plant of a line immediately. Resolves when the line is accounted for, after those `before` it. */
  async #import(line: Line, before: Promise<void>): Promise<void> {
    const settled = this.#settled;
    const created = await this.#create(line).catch((cause: unknown) => ({ cause }));
    await before;
    if (this.#failing.signal.aborted) return;
    try {
      if (typeof created === 'object') await this.#reject(line, created.cause, settled);
      else if (created) this.#stored += 1;
      this.#nextLine = line.number + 1;
    } catch (error) {
      this.#failing.abort(error);
    }
  }

  /** Stores the plant of a line. Resolves with `false` if the line is blank. */
  async #create(line: Line): Promise<boolean> {
    if (line.exceedsLimit) throw new LineTooLargeError();
    if (isBlank(line)) return false;
    await this.#store(parseNewPlant(textOf(line).toString('latin1')));
    return true;
  }

  /** Creates a plant, again if it is known that it was not stored. Rejects as `PlantCreator.create` does. */
  async #store(plant: NewPlant): Promise<void> {
    const { creator, timeLimitMs } = this.#options;
    const end = performance.now() + timeLimitMs;
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 10_000)) {
      try {
        await creator.create(plant, end - performance.now());
        this.#settled += 1;
        return;
      } catch (error) {
        if (error instanceof PlantIdTakenError) this.#settled += 1;
        const isStorable = error instanceof StoreUnavailableError && performance.now() < end;
        if (!isStorable) throw error;
        await setTimeout(pauseMs, undefined, { signal: this.#ending }).catch(() => undefined);
        if (this.#ending.aborted) throw error;
      }
    }
  }

  /**
   * Reports a line that was not stored. If the store is unavailable, ends the import instead, unless other lines were
   * settled meanwhile (for example, if one shard of several is down).
   */
  async #reject(
    { number, bytes, exceedsLimit }: Line,
    cause: unknown,
    settled: number,
  ): Promise<void> {
    const isOutage = cause instanceof StoreUnavailableError && settled === this.#settled;
    if (isOutage) throw cause;
    const code = cause instanceof Error && 'code' in cause ? `${cause.code}` : '';
    // Reveals nothing of an unexpected error.
    const { error, message } = failures.get(code) ?? INTERNAL;
    const namesTheRule = code === 'INVALID_JSON' || code === 'INVALID_NEW_PLANT';
    const reject = {
      line: number,
      error,
      message: namesTheRule && cause instanceof Error ? cause.message : message,
      ...(!exceedsLimit && isUtf8(bytes) ? { text: `${bytes}` } : {}),
    };
    await this.#options.reject(reject, error === INTERNAL.error ? cause : undefined);
    this.#rejected.set(error, (this.#rejected.get(error) ?? 0) + 1);
  }
}

/** Returns the bytes of a line, without a byte order mark at the beginning of the file. */
function textOf({ number, bytes }: Line): Buffer {
  const isMarked = number === 1 && bytes.indexOf(BYTE_ORDER_MARK) === 0;
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

/** Source: RFC 8259 section 2. */
function isBlank(line: Line): boolean {
  if (line.exceedsLimit) return false;
  return textOf(line).every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

class LineTooLargeError extends Error {
  readonly code = 'TOO_LARGE';
}
