import { gzipSync } from 'node:zlib';
import { sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { creating, creatingWith, exchange, groups, short, shown } from '../support/cases.js';
import { fieldValues } from '../support/raw-connection.js';
import {
  create,
  type FieldValue,
  MARK,
  plantText,
  TOKEN,
  VISITOR_TOKEN,
} from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const AUTHORIZATION = 'authorization';

describe('Credentials', () => {
  const group = groups(useSharedService());

  group(
    'A request without a bearer token gets a 4010:',
    ...creatingWith(AUTHORIZATION, [undefined, '', `Bearer${TOKEN}`, TOKEN], 4010),
    ...creatingWith(AUTHORIZATION, [`Basic ${btoa(`${MARK}:${MARK}`)}`], 4010),
    creating(
      'a token in the query, the body and a cookie',
      {
        target: `/plants?access_token=${encodeURIComponent(TOKEN)}`,
        headers: { authorization: undefined, cookie: `access_token=${TOKEN}` },
        body: plantText(undefined, `"access_token":"${TOKEN}"`),
      },
      4010,
    ),
  );

  const says = 'the bearer token is malformed, unknown, expired, or not meant for this service';
  const refused = (...values: FieldValue[]) =>
    creatingWith(AUTHORIZATION, values, { error: 4011, says });
  group(
    'A malformed, unknown or repeated bearer token gets a 4011:',
    ...refused('Bearer', `Bearer ${TOKEN} ${TOKEN}`, `Bearer ${TOKEN}, realm="x"`),
    ...refused(`Bearer\t${TOKEN}`, `Bearer ${MARK}!`, `Bearer ${MARK}\xe4`),
    ...refused(`Bearer ${'x'.repeat(15_000)}`, `Bearer ${sha256(TOKEN)}`),
    ...refused(`Bearer ${MARK}`, `Bearer ${TOKEN}=`, 'Bearer __proto__'),
    ...refused([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`], [`Bearer ${TOKEN}`, `Bearer ${MARK}`]),
    ...refused([`Basic ${MARK}`, `Bearer ${TOKEN}`]),
    ...creatingWith(AUTHORIZATION, [`Bearer: ${TOKEN}`], { error: [4010, 4011] }),
  );

  const accepted = [`bEaReR ${TOKEN}`, `Bearer   ${TOKEN}`, `   Bearer ${TOKEN}   `];
  group('A valid token is accepted:', ...creatingWith(AUTHORIZATION, accepted));
  const visitor = [`Bearer ${VISITOR_TOKEN}`];
  group(
    'A token without the permission gets a 4030:',
    ...creatingWith(AUTHORIZATION, visitor, 4030),
  );
});

const JSON_TYPE = 'application/json';

describe('Media types and content codings', () => {
  const group = groups(useSharedService());

  const accepted = (...values: string[]) => creatingWith('content-type', values);
  const ignored = { accept: '*/*;q=0', 'accept-encoding': 'gzip, br', 'if-none-match': '*' };
  group(
    'These headers are accepted:',
    ...accepted(JSON_TYPE, 'APPLICATION/JSON', `  ${JSON_TYPE}  `, `${JSON_TYPE};;;`),
    ...accepted(`${JSON_TYPE}; charset=utf-8`, `${JSON_TYPE} ; charset=utf-16`),
    ...accepted(`${JSON_TYPE};garbage " \\ ,/ =`, `${JSON_TYPE};\xff`),
    ...creatingWith('content-encoding', ['identity', '  identity ']),
    creating('If-Match, If-None-Match, Range and any Accept', {
      headers: { ...ignored, 'if-match': '"x"', range: 'bytes=0-1' },
    }),
  );

  const another = { error: 4002, says: 'Content-Type must be application/json, in one header' };
  const refused = (...values: FieldValue[]) => creatingWith('content-type', values, another);
  group(
    'A missing, repeated or unsupported Content-Type gets a 4002:',
    ...refused(undefined, '', 'text/json', 'application/jso', 'application/problem+json'),
    ...refused(`${JSON_TYPE}x`, `${JSON_TYPE} charset=utf-8`, `${JSON_TYPE}, text/plain`),
    ...refused(`${JSON_TYPE}\xa0`, 'application/x-www-form-urlencoded', MARK),
    ...refused([JSON_TYPE, JSON_TYPE], ['text/plain', JSON_TYPE]),
  );

  const says = 'the body must not be compressed: send it without Content-Encoding';
  const coded = { error: 4002, says };
  const headers = { 'content-encoding': 'gzip' };
  group(
    'A Content-Encoding other than identity gets a 4002:',
    creating('gzip', { body: gzipSync(plantText()), headers }, coded),
    creating('gzip of 100,000 bytes', { body: gzipSync('x'.repeat(100_000)), headers }, coded),
    ...creatingWith('content-encoding', [MARK, 'IDENTITY', 'identity, gzip'], coded),
    ...creatingWith('content-encoding', [['identity', 'identity']], coded),
  );
});

const EVERY_CHARACTER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-';
const TAKEN_OVER = ['-', EVERY_CHARACTER, 'x'.repeat(128), '__proto__'];
const INVALID = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', '{a}', 'a\tb', 'pfl\xe4nzchen'];

describe('X-Request-Id', () => {
  const service = useSharedService();

  groups(service)(
    'is used as the id of the response:',
    ...TAKEN_OVER.map((id) =>
      creating(short(id), { headers: { 'x-request-id': id } }, { requestId: id }),
    ),
  );

  for (const id of [undefined, ...INVALID, ['a', 'b'], ['a', 'a']]) {
    it(`is generated if the client sends ${shown(id) ?? 'none'}`, async () => {
      const bytes = create({ headers: { 'x-request-id': id } });
      const response = await exchange(service().port, bytes, { toOperation: true });
      const [made] = fieldValues(response, 'x-request-id');
      expect(made).not.to.be.oneOf([id, id?.[0]].flat());
      expect(made).to.have.length.greaterThan(7);
    });
  }
});
