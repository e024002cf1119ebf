import { gzipSync } from 'node:zlib';
import { creating, creatingWith, groups } from '../support/cases.js';
import { type FieldValue, MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const JSON_TYPE = 'application/json';

describe('Media types and content codings', () => {
  const group = groups(useSharedService());

  const accepted = (...values: string[]) => creatingWith('content-type', values);
  const ignored = { accept: '*/*;q=0', 'accept-encoding': 'gzip, br', 'if-none-match': '*' };
  group(
    'Accepted',
    ...accepted(JSON_TYPE, 'APPLICATION/JSON', `  ${JSON_TYPE}  `, `${JSON_TYPE};;;`),
    ...accepted(`${JSON_TYPE}; charset=utf-8`, `${JSON_TYPE} ; charset=utf-16`),
    ...accepted(`${JSON_TYPE};garbage " \\ ,/ =`, `${JSON_TYPE};\xff`),
    ...creatingWith('content-encoding', ['IDENTITY', '  identity ']),
    creating('conditions, a Range, and any Accept', {
      headers: { ...ignored, 'if-match': '"x"', range: 'bytes=0-1' },
    }),
  );

  const another = { error: 4002, says: 'Content-Type must be application/json, in one header' };
  const refused = (...values: FieldValue[]) => creatingWith('content-type', values, another);
  group(
    'Another Content-Type is a 4002',
    ...refused(undefined, '', 'text/json', 'application/jso', 'application/problem+json'),
    ...refused(`${JSON_TYPE}x`, `${JSON_TYPE} charset=utf-8`, `${JSON_TYPE}, text/plain`),
    ...refused(`${JSON_TYPE}\xa0`, 'application/x-www-form-urlencoded', MARK),
    ...refused([JSON_TYPE, JSON_TYPE], ['text/plain', JSON_TYPE]),
  );

  const says = 'the body must not be compressed: send it without Content-Encoding';
  const coded = { error: 4002, says };
  const headers = { 'content-encoding': 'gzip' };
  group(
    'Another Content-Encoding is a 4002',
    creating('gzip', { body: gzipSync(plantText()), headers }, coded),
    creating('gzip of 100,000 bytes', { body: gzipSync('x'.repeat(100_000)), headers }, coded),
    ...creatingWith('content-encoding', [MARK, 'identity, gzip', 'identity;q=1'], coded),
    ...creatingWith('content-encoding', [['identity', 'gzip']], coded),
  );
});
