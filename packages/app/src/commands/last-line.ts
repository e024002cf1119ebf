import { readSync } from 'node:fs';

/** At first, this much of the end of a file is read to find its last line. */
const TAIL_BYTES = 2 ** 16;

const REST_BYTES = 64;

const LINE_FEED = 0x0a;

/** The last whole line of a file. */
export interface LastLine {
  /** Without its line feed; empty when the file has no whole line. */
  readonly text: string;
  /** The position after its line feed. */
  readonly end: number;
  /** The beginning of what follows, which a crash or a full disk has cut off. */
  readonly rest: string;
}

/** Whether this is what a crash leaves of a line that begins in this way: a part of it, or zeros. */
export function isCutOff(rest: string, beginning: string): boolean {
  const begun = rest.slice(0, beginning.length);
  return beginning.startsWith(begun) || begun.startsWith('\0');
}

/** Reads the last whole line of a file: from the end, more each time, until the line is found. */
export function lastLine(file: number, size: number): LastLine {
  for (let length = TAIL_BYTES; ; length *= 2) {
    const start = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - start);
    readSync(file, bytes, 0, bytes.length, start);
    const end = bytes.lastIndexOf(LINE_FEED);
    const lines = bytes.subarray(0, Math.max(end, 0));
    const before = lines.lastIndexOf(LINE_FEED);
    if (start > 0 && before < 0) continue;
    const rest = bytes.toString('utf8', end + 1, end + 1 + REST_BYTES);
    return { text: lines.toString('utf8', before + 1), end: start + end + 1, rest };
  }
}
