export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its line feed, or the beginning of a line that exceeds the limit. */
  readonly bytes: Buffer;
  readonly exceedsLimit: boolean;
}

const LINE_FEED = 0x0a;

/**
 * Yields lines that end with LF or with the input; one that exceeds the limit, as soon as it does. The CR of a CRLF
 * belongs to its line. Keeps no more than one line of the maximum length in memory.
 *
 * @param limit The maximum length of a line in bytes, without its line feed.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Line, void> {
  /** The parts of the line that has begun; `undefined` while the rest of a line that exceeds the limit is skipped. */
  let begun: Buffer[] | undefined = [];
  let size = 0;
  let number = 0;
  /** Adds a part to the line. Returns the line if this part ends it, or makes it exceed the limit. */
  const add = (part: Buffer, isEnd: boolean): Line | undefined => {
    const parts = begun;
    if (isEnd) begun = [];
    if (parts === undefined) return undefined;
    size += part.length;
    if (part.length > 0) parts.push(part);
    const exceedsLimit = size > limit;
    if (!isEnd && !exceedsLimit) return undefined;
    const whole = parts.length === 1 ? (parts[0] ?? part) : Buffer.concat(parts);
    size = 0;
    number += 1;
    if (!isEnd) begun = undefined;
    return {
      number,
      bytes: exceedsLimit ? Buffer.from(whole.subarray(0, limit)) : whole,
      exceedsLimit,
    };
  };
  for await (const part of input) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      const line = add(chunk.subarray(from, at), true);
      if (line) yield line;
      from = at + 1;
    }
    const line = add(chunk.subarray(from), false);
    if (line) yield line;
  }
  const line = size > 0 ? add(Buffer.alloc(0), true) : undefined;
  if (line) yield line;
}
