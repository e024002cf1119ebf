import { isUtf8 } from 'node:buffer';
import type { Line } from './read-lines.js';

/** The input is not newline-delimited JSON. The message says what it looks like, and where to read how to convert it. */
export class NotNdjsonError extends Error {
  override readonly name = 'NotNdjsonError';
  readonly code = 'NOT_NDJSON';
}

/** How other formats begin, in Latin-1. The first match counts. */
const KINDS: readonly (readonly [beginning: RegExp, kind: string])[] = [
  [/^(?:\xff\xfe|\xfe\xff|\0[[{]|[[{]\0)/, 'UTF-16'],
  [/[^ -~\t\r\x80-\xff]/, 'compressed or binary'],
  [/^\s*\[/, 'a JSON array'],
  [/^["\w]+[,;\t|]/, 'CSV'],
];

/**
 * Throws {@link NotNdjsonError} unless the first non-blank line of a file is a JSON object. The rules for plants and the limit
 * are checked later, for each line, so a line beyond the limit only has to begin like an object.
 */
export function expectObject({ bytes, exceedsLimit }: Line): void {
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const isObject = /^\s*\{/.test(text) && (exceedsLimit || isJson(bytes));
  if (isObject) return;
  const kind = KINDS.find(([beginning]) => beginning.test(text))?.[1] ?? 'not JSON';
  throw new NotNdjsonError(
    `the input is ${kind}: its first line must be a JSON object, such as {"id":1,"name":"Monstera"}. docs/import-and-export.md shows how to convert files`,
  );
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
    return isUtf8(bytes);
  } catch {
    return false;
  }
}
