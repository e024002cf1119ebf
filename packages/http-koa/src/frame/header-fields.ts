import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of all fields of this name, as they were sent. `headers` of Node.js has only the first of
 * several, and `headersDistinct` of Node.js 20.19 throws for a field named `__proto__`.
 *
 * @param name The name in lower case.
 */
export function fieldValues({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? '');
    }
  }
  return values;
}

/** Returns whether the headers announce a body, which may be empty (RFC 9112 section 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}

/**
 * Returns a value without the optional white space around it, spaces and tabs (RFC 9110 section 5.6.3). A regular
 * expression for its end would take quadratic time for a long row of spaces.
 */
export function withoutSpace(value: string): string {
  let start = 0;
  let end = value.length;
  while (isSpace(value[start])) start += 1;
  while (end > start && isSpace(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
