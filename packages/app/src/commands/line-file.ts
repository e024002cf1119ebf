import {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
} from 'node:fs';

/** At first, this much of the end of a file is read to find its last line. */
const TAIL_BYTES = 2 ** 16;

const LINE_FEED = 0x0a;

/** A file of whole lines: a write that fails leaves no part of one, and what a crash has left of one can be removed. */
export class LineFile {
  readonly isEmpty: boolean;
  /** The last whole line when the file was opened, without its line feed; empty when there is none. */
  readonly last: string;
  readonly #file: number;
  /** Only a regular file has an end that can be read or removed. */
  readonly #isRegular: boolean;
  #size: number;

  constructor(path: string, flags: string) {
    this.#file = openSync(path, flags);
    const stats = fstatSync(this.#file);
    this.#isRegular = stats.isFile();
    this.isEmpty = !this.#isRegular || stats.size === 0;
    const { text, end } = lastLine(this.#file, this.isEmpty ? 0 : stats.size);
    this.last = text;
    this.#size = end;
  }

  /** The bytes of all whole lines. */
  get size(): number {
    return this.#size;
  }

  /** Removes what follows the last whole line. */
  cut(): void {
    if (this.#isRegular) ftruncateSync(this.#file, this.#size);
  }

  /** Appends whole lines before it returns. */
  append(lines: string): void {
    try {
      appendFileSync(this.#file, lines);
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
    return { text: lines.toString('utf8', before + 1), end: start + end + 1 };
  }
}
