/** One line of the input. */
export interface Line {
  /** The first line is 1. */
  readonly number: number;
  /** Bytes of the input up to the end of this line, including its line feed. */
  readonly end: number;
  /** The line without its line ending; `undefined` when it is larger than the limit. */
  readonly bytes: Buffer | undefined;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads lines that end with LF or CRLF; the last one may end with the input. Uses memory for one line of the
 * largest size, however long a line is. Skips a byte order mark at the beginning of the input.
 *
 * @param limit The largest line in bytes, without its line ending.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Line, void> {
  const begun = new LineBuffer(limit + BYTE_ORDER_MARK.length + 1);
  let number = 0;
  let offset = 0;
  const line = (last: Buffer, end: number): Line => {
    number += 1;
    return { number, end, bytes: content(begun.end(last), number, limit) };
  };
  for await (const part of input) {
    const chunk = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      yield line(chunk.subarray(from, at), offset + at + 1);
      from = at + 1;
    }
    begun.add(chunk.subarray(from));
    offset += chunk.length;
  }
  if (!begun.isEmpty) yield line(Buffer.alloc(0), offset);
}

function content(line: Buffer | undefined, number: number, limit: number): Buffer | undefined {
  if (line === undefined) return undefined;
  const marked = number === 1 && line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const from = marked ? BYTE_ORDER_MARK.length : 0;
  const to = line[line.length - 1] === CARRIAGE_RETURN ? line.length - 1 : line.length;
  if (to - from > limit) return undefined;
  return to - from === line.length ? line : line.subarray(from, to);
}

/** Buffers the beginning of a line until its end is read. Uses no more memory than the limit, in bytes. */
class LineBuffer {
  readonly #memory: Buffer;
  #size = 0;

  constructor(limit: number) {
    this.#memory = Buffer.alloc(limit);
  }

  /** Whether it holds no bytes of a line. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Appends bytes. What exceeds the limit is counted but not stored. */
  add(bytes: Buffer): void {
    bytes.copy(this.#memory, this.#size);
    this.#size += bytes.length;
  }

  /** Ends the line with `bytes` and returns it; `undefined` when it was begun and exceeds the limit. */
  end(bytes: Buffer): Buffer | undefined {
    if (this.isEmpty) return bytes;
    this.add(bytes);
    const size = this.#size;
    this.#size = 0;
    return size <= this.#memory.length ? Buffer.from(this.#memory.subarray(0, size)) : undefined;
  }
}
