import type { IncomingMessage } from 'node:http';

/**
 * The values of every field of this name, as they were sent.
 * Node's `headers` keeps only the first of a doubled field, so it does not show that there was another;
 * `headersDistinct` of Node 20.19 throws for a field named `__proto__`.
 *
 * @param name In lower case.
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

/** Whether the headers announce a body, be it empty in the end (RFC 9112 section 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > 0;
}

/**
 * Without the optional white space around it: space and tab alone (RFC 9110 section 5.6.3).
 * A regular expression for its end would begin anew at every space: quadratic in a long row of them.
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
