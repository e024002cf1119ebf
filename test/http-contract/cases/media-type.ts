import { gzipSync } from 'node:zlib';
import { creating, creatingWith, groups } from '../support/cases.js';
import { MARK, plantText } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const JSON_TYPE = 'application/json';

describe('Media types and content codings', () => {
  const withEnding = (endings: readonly string[]) => endings.map((it) => JSON_TYPE + it);
  const group = groups(useSharedService());

  const accepted = [JSON_TYPE, 'APPLICATION/JSON', `  ${JSON_TYPE}  `, `${JSON_TYPE};;;`];
  const parameters = ['; charset=utf-8', ' ; charset=utf-16', ';garbage " \\ ,/ =', ';\xff'];
  const ignored = { accept: '*/*;q=0', 'accept-encoding': 'gzip, br', 'if-none-match': '*' };
  group(
    'Accepted',
    ...creatingWith('content-type', accepted),
    ...creatingWith('content-type', withEnding(parameters)),
    ...creatingWith('content-encoding', ['IDENTITY', '  identity ']),
    creating('conditions, a Range, and any Accept', {
      headers: { ...ignored, 'if-match': '"x"', range: 'bytes=0-1' },
    }),
  );

  const endings = ['x', ' charset=utf-8', ', text/plain', '\xa0'];
  const others = [undefined, '', 'text/json', 'application/jso', 'application/problem+json'];
  const repeated = [JSON_TYPE, 'text/plain'].map((it) => [it, JSON_TYPE]);
  const another = { error: 4002, says: 'Content-Type must be application/json, in one header' };
  group(
    'Another Content-Type is a 4002',
    ...creatingWith('content-type', others, another),
    ...creatingWith('content-type', withEnding(endings), another),
    ...creatingWith('content-type', ['application/x-www-form-urlencoded', MARK], another),
    ...creatingWith('content-type', repeated, another),
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
