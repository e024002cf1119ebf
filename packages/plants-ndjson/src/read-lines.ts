export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its line feed; `undefined` if it exceeds the limit. */
  readonly bytes: Buffer | undefined;
}

const LINE_FEED = 0x0a;

/**
 * Yields lines that end with LF or with the input. The CR of a CRLF belongs to its line. Keeps no more than one line of
 * the maximum length in memory.
 *
 * @param limit The maximum length of a line in bytes, without its line feed.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Line, void> {
  /** The beginning of a line, until it exceeds the limit. */
  let begun: Buffer[] = [];
  let size = 0;
  let number = 0;
  const begin = (part: Buffer) => {
    size += part.length;
    if (size > limit) begun = [];
    else if (part.length > 0) begun.push(part);
  };
  const end = (part: Buffer): Line => {
    begin(part);
    const whole = begun.length === 1 ? begun[0] : Buffer.concat(begun);
    const bytes = size > limit ? undefined : whole;
    begun = [];
    size = 0;
    number += 1;
    return { number, bytes };
  };
  for await (const part of input) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      yield end(chunk.subarray(from, at));
      from = at + 1;
    }
    begin(chunk.subarray(from));
  }
  if (size > 0) yield end(Buffer.alloc(0));
}
