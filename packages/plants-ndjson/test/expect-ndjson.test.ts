import { rejects } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { NotNdjsonError } from '@plant-store/plants-ndjson';
import { expect } from 'chai';
import { expectNdjson } from '../src/expect-ndjson.js';

const PLANT = '{"id":9007199254740993,"name":"a, \\"b\\" {c}","tag":"t"}';
const LARGE = `{"id":1,"name":"${'x'.repeat(2 ** 17)}"}`;

/** Returns the text with each character in so many bytes, the last or the first of which are its code. */
function wide(text: string, bytes: 2 | 4, order: 'LE' | 'BE'): Buffer {
  const at = order === 'LE' ? 0 : bytes - 1;
  return Buffer.concat(
    [...text].map((character) => {
      const code = Buffer.alloc(bytes);
      code[at] = character.charCodeAt(0);
      return code;
    }),
  );
}

const magic = (bytes: string) => Buffer.from(`${bytes}\n\0\xff`, 'latin1');

const OTHERS: readonly (readonly [what: string, content: string | Buffer, message: RegExp])[] = [
  ['gzip', gzipSync(PLANT), /gzip.* gunzip -c/],
  ['compress', magic('\x1f\x9d\x90'), /compress.* gunzip -c/],
  ['zstd', magic('\x28\xb5\x2f\xfd'), /zstd.* zstd -dc/],
  ['xz', magic('\xfd7zXZ\0'), /xz.* xz -dc/],
  ['lzma', magic('\x5d\0\0\x80'), /lzma.* xz -dc/],
  ['bzip2', magic('BZh9'), /bzip2.* bzip2 -dc/],
  ['lz4', magic('\x04\x22\x4d\x18'), /lz4.* lz4 -dc/],
  ['lzip', magic('LZIP'), /lzip.* lzip -dc/],
  ['ZIP', magic('PK\x03\x04'), /ZIP.* unzip -p/],
  ['7-Zip', magic('7z\xbc\xaf\x27\x1c'), /7-Zip.* 7z x -so/],
  ['RAR', magic('Rar!'), /RAR.* unrar p/],
  ['tar', `plants.ndjson${'\0'.repeat(244)}ustar`, /tar.* tar -xOf/],
  ['an archive of mongodump', magic('\x6d\xe2\x99\x81'), /mongodump.*Restore/],
  ['BSON', '\x25\0\0\0\x12_id\0', /BSON.*Restore/],
  ['an archive of pg_dump', magic('PGDMP\x01'), /pg_dump.*Restore/],
  ['SQLite', magic('SQLite format 3\0'), /SQLite.*every digit/],
  ['Parquet', magic('PAR1'), /Parquet.*every digit/],
  ['Avro', magic('Obj\x01'), /Avro.*every digit/],
  ['Brotli', brotliCompressSync(PLANT), /the input is /],
  ...(['LE', 'BE'] as const).flatMap((order) =>
    ([2, 4] as const).flatMap((bytes) => {
      const rule = new RegExp(`UTF-${8 * bytes}, .* iconv -f UTF-${8 * bytes}${order} -t UTF-8$`);
      const mark = wide('\xff', bytes, order).fill(0);
      mark.set(order === 'LE' ? [0xff, 0xfe] : [0xfe, 0xff], order === 'LE' ? 0 : bytes - 2);
      const text = wide(`${PLANT}\r\n`, bytes, order);
      return [
        [`UTF-${8 * bytes}${order}`, text, rule],
        [`UTF-${8 * bytes}${order} with a mark`, Buffer.concat([mark, text]), rule],
      ] as const;
    }),
  ),
  ['JSON text sequences', `\x1e${PLANT}\n`, /sequences.* tr -d/],
  ['an array in a line', `[${PLANT}]`, /array.* jq -c '\.\[\]' \(1\.7/],
  ['an array in a long line', `[${LARGE}]`, /array.* jq -c '\.\[\]'/],
  ['an array of mongoexport', `[${PLANT},\n${PLANT}]\n`, /array.* jq -c '\.\[\]'/],
  ['an indented array', `[\n  {\n    "id": 1\n  }\n]\n`, /array.* jq -c '\.\[\]'/],
  ['an empty array', '[]', /array/],
  ['an indented list', '{\n  "plants": [\n    {\n', /list.* jq -c '\.\[\]\[\]'/],
  ['indented objects', '{\n  "id": 1\n}\n', /several lines.* jq -c \. /],
  ['several objects in a line', `${PLANT} ${PLANT}`, /in a line.* jq -c \. /],
  ['lines that end with CR', `${PLANT}\r${PLANT}\r`, /in a line.* jq -c \. /],
  ['lines that end with commas', `${PLANT},\n${PLANT},\n`, /commas.* sed/],
  ['CSV', 'id,name\n1,Monstera\n', /CSV.*every digit/],
  ['TSV', 'id\tname\n', /CSV or another table/],
  ['CSV with JSON', '"{""id"":1}"\n', /CSV/],
  ['XML', '<?xml version="1.0"?>\n', /XML/],
  ['YAML', '- id: 1\n', /YAML/],
  ['SQL', '--\n-- PostgreSQL database dump\n', /SQL.*Restore/],
  ['text in another encoding', Buffer.from('{"id":1,"name":"é"}\n', 'latin1'), /not UTF-8.* iconv/],
  ['a comment', '# plants\n', /^the first line is not valid JSON: .*\. Write a JSON object/],
  ['a number', '1\n', /^the first line must be a JSON object, not a number\. Write/],
  ['JSON5', "{id:1,name:'a'}\n", /^the first line is not valid JSON: expected a name/],
  ['a line that is cut off', '{"id":1,"na', /^the first line is not valid JSON: unterminated/],
];

const NDJSON: readonly (readonly [what: string, content: string])[] = [
  ['a plant', PLANT],
  ['CRLF, blank lines and a byte order mark', `\ufeff\r\n \t\r\n${PLANT}\r\n[\n`],
  ['white space around the object', `  ${PLANT}\t \n`],
  ['an object that is not a plant', '{"_id":{"$numberLong":"1"}}\n'],
  ['an object that the service refuses', '{"id":1,"id":1,"name":"\\ud800"}\n'],
  ['a line that is too large', `${LARGE}\n${PLANT}\n`],
  ['nothing', ''],
  ['blank lines only', '\ufeff\n\n'],
  ['many blank lines', `${'\n'.repeat(2 ** 17)}${PLANT}`],
];

async function passed(content: string | Buffer, chunkBytes: number): Promise<Buffer> {
  const bytes = Buffer.from(content);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  );
  return Buffer.concat(await Readable.from(expectNdjson(Readable.from(chunks))).toArray());
}

describe('The form of an input', () => {
  for (const [what, content, message] of OTHERS) {
    it(`is named with its fix: ${what}`, async () => {
      await rejects(passed(content, 2 ** 16), (error) => {
        expect(error).to.be.instanceOf(NotNdjsonError);
        expect((error as Error).message).to.match(message);
        return true;
      });
    });
  }

  for (const [what, content] of NDJSON) {
    it(`is newline-delimited JSON with ${what}`, async () => {
      expect((await passed(content, 1000)).equals(Buffer.from(content))).to.equal(true);
    });
  }

  it('does not depend on its chunks', async () => {
    for (const [, content] of OTHERS.slice(-20)) await rejects(passed(content, 1), NotNdjsonError);
    for (const [, content] of NDJSON.slice(0, 5)) await passed(content, 1);
  });
});
