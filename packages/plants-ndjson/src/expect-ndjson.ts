import { isUtf8 } from 'node:buffer';
import { newPlantParser } from '@plant-store/plant-json';

/** The input is not newline-delimited JSON. The message says what it is, and how to convert it. */
export class NotNdjsonError extends Error {
  override readonly name = 'NotNdjsonError';
  readonly code = 'NOT_NDJSON';
}

const RESTORE =
  'Restore it into a database, and export it from there: see docs/import-and-export.md';
const CONVERT =
  'Convert it with a tool that keeps every digit of the ids: see docs/import-and-export.md';
const jq = (filter: string) =>
  `Convert it with jq -c ${filter} (1.7 or later: 1.6 rounds large ids)`;
const EACH = 'Write a JSON object in each line: {"id":1,"name":"Monstera"}';
const iconv = (from: string) => `Convert it with iconv -f ${from} -t UTF-8`;
const unpack = (command: string) => `Unpack it with ${command}`;

/** A JSON object that contains no other, such as a plant. */
const FLAT = String.raw`\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}`;

/** How other forms of files begin, in Latin-1. The first match counts. */
const FORMS: readonly (readonly [beginning: string | RegExp, form: string, fix: string])[] = [
  ['\x1f\x8b', 'gzip data', unpack('gunzip -c')],
  ['\x1f\x9d', 'compress data', unpack('gunzip -c')],
  ['\x28\xb5\x2f\xfd', 'zstd data', unpack('zstd -dc')],
  ['\xfd7zXZ', 'xz data', unpack('xz -dc')],
  ['\x5d\0\0', 'lzma data', unpack('xz -dc')],
  ['BZh', 'bzip2 data', unpack('bzip2 -dc')],
  ['\x04\x22\x4d\x18', 'lz4 data', unpack('lz4 -dc')],
  ['LZIP', 'lzip data', unpack('lzip -dc')],
  ['PK', 'a ZIP archive or a spreadsheet', unpack('unzip -p, or save it as CSV')],
  ['7z\xbc\xaf', 'a 7-Zip archive', unpack('7z x -so')],
  ['Rar!', 'a RAR archive', unpack('unrar p -inul')],
  [/^.{257}ustar/s, 'a tar archive', unpack('tar -xOf')],
  ['\x6d\xe2\x99\x81', 'an archive of mongodump', RESTORE],
  [/^.{5}_id\0/s, 'BSON', RESTORE],
  ['PGDMP', 'an archive of pg_dump', RESTORE],
  ['SQLite format 3', 'an SQLite database', CONVERT],
  ['PAR1', 'a Parquet file', CONVERT],
  ['Obj\x01', 'an Avro file', CONVERT],
  [/^(?:\xff\xfe\0\0|[^\0]\0{3}[^\0]\0{3})/, 'UTF-32', iconv('UTF-32LE')],
  [/^(?:\0\0\xfe\xff|\0{3}[^\0])/, 'UTF-32', iconv('UTF-32BE')],
  [/^(?:\xff\xfe|[^\0]\0[^\0]\0)/, 'UTF-16', iconv('UTF-16LE')],
  [/^(?:\xfe\xff|\0[^\0]\0[^\0])/, 'UTF-16', iconv('UTF-16BE')],
  ['\x1e', 'JSON text sequences', "Remove the separators with tr -d '\\036'"],
  [/[^ -~\t\r\n\x80-\xff]/, 'binary data', CONVERT],
  [/^\[\s*(?:[{\]]|$)/, 'a JSON array', jq("'.[]'")],
  [/^\{\s*"[^"]*"\s*:\s*\[/, 'a JSON object with a list', jq("'.[][]'")],
  [/^\{[^}\n]*\n/, 'JSON with objects of several lines', jq('.')],
  [new RegExp(`^${FLAT}[ \t\r]*\\{`), 'JSON with several objects in a line', jq('.')],
  [
    new RegExp(`^${FLAT}\\s*,\\s*(?:\n|$)`),
    'JSON with commas between objects',
    "Remove them with sed 's/,[[:space:]]*$//'",
  ],
  ['<', 'XML or HTML', CONVERT],
  [/^(?:---\s|%YAML|- |(?:id|name|tag):)/, 'YAML', CONVERT],
  [/^(?:--\s|\/\*|(?:BEGIN|COPY|CREATE|DROP|INSERT|PRAGMA|SET|USE)\s)/i, 'SQL', RESTORE],
  [/^(?:"\{""|(?![#/])[^\n{[]*[,;\t|])/, 'CSV or another table', CONVERT],
];

/** How many bytes of the input are examined. */
const MAX_BYTES = 2 ** 16;

/**
 * Yields the input. Throws {@link NotNdjsonError} before it yields all of the first line that is not blank, if that is
 * not a JSON object.
 */
export async function* expectNdjson(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of input) {
    if (start) start = expectObject(Buffer.concat([start, chunk]), false);
    yield chunk;
  }
  if (start) expectObject(start, true);
}

/** White space and blank lines, after a byte order mark. */
const BLANK = /^(?:\xef\xbb\xbf)?[ \t\r\n]*/;

/** Returns the start without blank lines; `undefined` when its first line is an object, or too long to be judged. */
function expectObject(start: Buffer, isEnd: boolean): Buffer | undefined {
  const [blank = ''] = BLANK.exec(start.toString('latin1')) ?? [];
  const rest = start.subarray(blank.length);
  const end = rest.indexOf('\n');
  const isWhole = end >= 0 || isEnd;
  if (rest.length === 0 || (!isWhole && rest.length < MAX_BYTES)) return rest;
  const line = end < 0 ? rest : rest.subarray(0, end);
  if (isWhole && isObject(line)) return undefined;
  const text = rest.toString('latin1');
  const form = FORMS.find(([it]) => (typeof it === 'string' ? text.startsWith(it) : it.test(text)));
  if (form) {
    throw new NotNdjsonError(`the input is ${form[1]}, not newline-delimited JSON. ${form[2]}`);
  }
  if (isWhole || !text.startsWith('{')) throw new NotNdjsonError(problemOf(line));
  return undefined;
}

/** Whether the line is a JSON object. The rules for plants are checked later, for each line. */
function isObject(line: Buffer): boolean {
  if (line[0] !== 0x7b || !isUtf8(line)) return false;
  try {
    JSON.parse(line.toString());
    return true;
  } catch {
    return false;
  }
}

const parseNewPlant = newPlantParser('the first line');

function problemOf(line: Buffer): string {
  if (!isUtf8(line))
    return `the input is not UTF-8. ${iconv('WINDOWS-1252')}, if that is its encoding`;
  try {
    parseNewPlant(line);
  } catch (error) {
    if (error instanceof Error) return `${error.message}. ${EACH}`;
  }
  return EACH;
}
