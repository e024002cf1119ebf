import {
  appendFile,
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';

/** Repeats short writes, as those to a full disk. */
const appendAll = promisify<number, string>(appendFile);

/** At first, this much of the end of a file is read to find its last line. */
const TAIL_BYTES = 2 ** 16;

const LINE_FEED = 0x0a;

/** A file of whole lines: a write that fails leaves no part of one, and what a crash has left of one can be removed. */
export class LineFile {
  readonly stats: Stats;
  /** The last whole line when the file was opened, without its line feed; empty when there is none. */
  readonly last: string;
  readonly #file: number;
  /** What follows the last whole line. */
  readonly #rest: string;
  #size: number;

  constructor(path: string, flags: string | number) {
    this.#file = openSync(path, flags);
    this.stats = fstatSync(this.#file);
    const { text, end, rest } = lastLine(this.#file, this.#isRegular ? this.stats.size : 0);
    this.last = text;
    this.#size = end;
    this.#rest = rest;
  }

  /** The bytes of all whole lines. */
  get size(): number {
    return this.#size;
  }

  /** Whether the file ends with a whole line, or with what a crash leaves of one that begins so: a part, or zeros. */
  canContinue(beginning: string): boolean {
    const begun = this.#rest.slice(0, beginning.length);
    return beginning.startsWith(begun) || begun.startsWith('\0');
  }

  /** Removes what follows the last whole line. */
  cut(): void {
    if (this.#isRegular) ftruncateSync(this.#file, this.#size);
  }

  /** Appends whole lines before it returns. */
  appendSync(lines: string): void {
    try {
      appendFileSync(this.#file, lines);
    } catch (error) {
      this.cut();
      throw error;
    }
    this.#size += Buffer.byteLength(lines);
  }

  /** Appends many lines: a slow disk delays only the caller. */
  async append(lines: string): Promise<void> {
    try {
      await appendAll(this.#file, lines);
    } catch (error) {
      this.cut();
      throw error;
    }
    this.#size += Buffer.byteLength(lines);
  }

  /** Makes the lines durable. */
  close(): void {
    if (this.#isRegular) fsyncSync(this.#file);
    closeSync(this.#file);
  }

  /** Only a regular file has an end that can be read or removed. */
  get #isRegular(): boolean {
    return this.stats.isFile();
  }
}

/** Reads the last whole line of a file: from the end, more each time, until the line is found. */
function lastLine(file: number, size: number) {
  for (let length = TAIL_BYTES; ; length *= 2) {
    const start = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - start);
    readSync(file, bytes, 0, bytes.length, start);
    const end = bytes.lastIndexOf(LINE_FEED);
    const lines = bytes.subarray(0, Math.max(end, 0));
    const before = lines.lastIndexOf(LINE_FEED);
    if (start > 0 && before < 0) continue;
    const rest = bytes.toString('latin1', end + 1, end + 65);
    return { text: lines.toString('utf8', before + 1), end: start + end + 1, rest };
  }
}
