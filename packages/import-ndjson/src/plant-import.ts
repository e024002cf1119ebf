import type { Readable } from 'node:stream';
import { type NewPlant, PermissionDeniedError } from '@plant-store/domain';
import { newPlantReader } from '@plant-store/plant-json';
import { type AttemptOptions, Attempts } from './attempts.js';
import { BackOff } from './back-off.js';
import { LineQueue } from './line-queue.js';
import { type Line, readLines } from './read-lines.js';
import { LineTooLargeError, outcomeOf, type Reject, rejectOf } from './reject.js';
import { type Outcome, type Progress, Tally } from './tally.js';

/** What an import works with. */
export interface PlantImportOptions extends AttemptOptions {
  /** Bytes that a line may have at most, without its ending. */
  readonly maxLineBytes: number;
  /** Lines before this one are skipped; 1 by default. */
  readonly fromLine?: number;
  /**
   * Called with each line that was not stored, in order. Returns whether the line is on record now: a resumed
   * import then skips it. An error that it throws ends the import.
   */
  readonly record?: (reject: Reject) => boolean;
  /** Called with every error that is a bug. */
  readonly failed?: (line: number, cause: unknown) => void;
}

/** What fills four batches of a thousand. With more lines at once only more memory is used. */
const MAX_LINES = 4_000;
/** For lines that are larger than 16 KiB. */
const MAX_BYTES = 2 ** 26;

/** What a line has come to. */
type Result = 'stored' | 'blank' | { readonly error: unknown };

const STORED: Result = 'stored';
const readNewPlant = newPlantReader('the line');

/**
 * Imports plants from newline-delimited JSON, one NewPlant a line. Many lines are worked on at once, and they
 * are accounted for in their order. Takes the same memory however long the input or one of its lines is.
 */
export class PlantImport {
  readonly #options: PlantImportOptions;
  readonly #stopping = new AbortController();
  readonly #attempts: Attempts;
  readonly #queue = new LineQueue<Result>((line, result) => this.#account(line, result));
  readonly #tally = new Tally();
  #problem: { readonly cause: unknown } | undefined;

  constructor(options: PlantImportOptions) {
    this.#options = options;
    this.#attempts = new Attempts(options, new BackOff(this.#stopping.signal));
  }

  get progress(): Progress {
    const { outcomes, bytes, nextLine } = this.#tally;
    return { outcomes: { ...outcomes }, retrying: this.#attempts.retrying, bytes, nextLine };
  }

  /**
   * Resolves when every line that was read is accounted for: with true at the end of the input, with false after
   * {@link stop}. To be called once.
   *
   * Rejects with `PermissionDeniedError`, or with what the input or `record` has thrown, once what is under way
   * is accounted for.
   */
  async run(input: Readable): Promise<boolean> {
    this.#stopping.signal.addEventListener('abort', () => input.destroy());
    const hasEnded = !this.#isStopping && (await this.#read(input));
    await this.#queue.within(0, 0);
    if (this.#problem !== undefined) throw this.#problem.cause;
    return hasEnded;
  }

  /** Reads no further, and lets attempts under way be the last ones. */
  stop(): void {
    this.#stopping.abort();
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves with whether the end of the input was reached. */
  async #read(input: Readable): Promise<boolean> {
    const { fromLine = 1, maxLineBytes } = this.#options;
    try {
      for await (const line of readLines(input, maxLineBytes)) {
        if (this.#isStopping) return false;
        if (line.number < fromLine) this.#tally.skip(line);
        else this.#begin(line);
        await this.#queue.within(MAX_LINES, MAX_BYTES);
      }
      return !this.#isStopping;
    } catch (error) {
      // To stop, the input is destroyed, which is an error to its reader.
      if (!this.#isStopping) this.#fail(error);
      return false;
    }
  }

  #begin(line: Line): void {
    const entry = this.#queue.enter(line);
    const settle = (result: Result) => this.#queue.settle(entry, result);
    const fail = (error: unknown) => settle({ error });
    try {
      const plant = plantOf(line);
      if (plant === undefined) settle('blank');
      else this.#attempts.create(plant).then(() => settle(STORED), fail);
    } catch (error) {
      fail(error);
    }
  }

  #account(line: Line, result: Result): void {
    if (typeof result === 'string') this.#tally.count(line, result);
    else this.#reject(line, result.error);
  }

  #reject(line: Line, error: unknown): void {
    const outcome = outcomeOf(error);
    if (error instanceof PermissionDeniedError) this.#fail(error);
    else if (outcome === 'failed') this.#options.failed?.(line.number, error);
    if (!this.#isDoneWith(line, error, outcome)) this.#tally.leaveGap();
    this.#tally.count(line, outcome);
  }

  /** Whether the line is on record, or another import would not store it either. */
  #isDoneWith(line: Line, error: unknown, outcome: Outcome): boolean {
    if (this.#problem !== undefined) return false;
    try {
      const isRecorded = this.#options.record?.(rejectOf(line, error)) ?? false;
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

/** The plant of a line; `undefined` when there is none, in a line of white space. */
function plantOf({ bytes }: Line): NewPlant | undefined {
  if (bytes === undefined) throw new LineTooLargeError('the line is larger than the limit');
  return isBlank(bytes) ? undefined : readNewPlant(bytes);
}

/** Whether there is nothing but white space of JSON. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
