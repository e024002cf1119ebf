import { sha256 } from '@plant-store/service-process';
import { creating, creatingWith, groups } from '../support/cases.js';
import { type FieldValue, MARK, plantText, TOKEN, VISITOR_TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const AUTHORIZATION = 'authorization';

describe('Credentials', () => {
  const group = groups(useSharedService());

  group(
    'None, or another scheme, is a 4010',
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
    'A bearer token that is malformed, unknown or repeated is a 4011',
    ...refused('Bearer', `Bearer ${TOKEN} ${TOKEN}`, `Bearer ${TOKEN}, realm="x"`),
    ...refused(`Bearer\t${TOKEN}`, `Bearer ${MARK}!`, `Bearer ${MARK}\xe4`),
    ...refused(`Bearer ${'x'.repeat(8193)}`, `Bearer ${sha256(TOKEN)}`),
    ...refused(`Bearer ${MARK}`, `Bearer ${TOKEN}=`, 'Bearer __proto__'),
    ...refused([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`], [`Bearer ${TOKEN}`, `Bearer ${MARK}`]),
    ...refused([`Basic ${MARK}`, `Bearer ${TOKEN}`]),
    ...creatingWith(AUTHORIZATION, [`Bearer: ${TOKEN}`], { error: [4010, 4011] }),
  );

  const accepted = [`bEaReR ${TOKEN}`, `Bearer   ${TOKEN}`, `   Bearer ${TOKEN}   `];
  group('A valid token is accepted', ...creatingWith(AUTHORIZATION, accepted));
  const visitor = [`Bearer ${VISITOR_TOKEN}`];
  group('Without the permission is a 4030', ...creatingWith(AUTHORIZATION, visitor, 4030));
});
