export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its line feed, or the beginning of a line that exceeds the limit. */
  readonly bytes: Buffer;
  readonly exceedsLimit: boolean;
}

const LINE_FEED = 0x0a;

/**
 * Yields the lines of the input, each without its LF; one that exceeds the limit, as soon as it does. The CR of a CRLF belongs
 * to its line. Keeps at most one line of the maximum length in memory.
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
  const lineOf = (parts: readonly Buffer[]): Line => {
    const [first, ...others] = parts;
    const whole = first && others.length === 0 ? first : Buffer.concat(parts);
    const exceedsLimit = size > limit;
    size = 0;
    number += 1;
    const bytes = exceedsLimit ? Buffer.from(whole.subarray(0, limit)) : whole;
    return { number, bytes, exceedsLimit };
  };
  /** Adds a part to the line. Returns the line if this part makes it exceed the limit. */
  const add = (part: Buffer): Line | undefined => {
    if (begun === undefined) return undefined;
    size += part.length;
    if (part.length > 0) begun.push(part);
    if (size <= limit) return undefined;
    const line = lineOf(begun);
    begun = undefined;
    return line;
  };
  /** Adds the last part of the line. Returns the line unless {@link add} has returned it before. */
  const end = (part: Buffer): Line | undefined => {
    const line = add(part) ?? (begun && lineOf(begun));
    begun = [];
    return line;
  };
  for await (const part of input) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      const line = end(chunk.subarray(from, at));
      if (line) yield line;
      from = at + 1;
    }
    const line = add(chunk.subarray(from));
    if (line) yield line;
  }
  const line = size > 0 ? end(Buffer.alloc(0)) : undefined;
  if (line) yield line;
}
