import { sha256 } from '@plant-store/service-process';
import { creating, testEach } from '../support/cases.js';
import { MARK, plantText, TOKEN, VISITOR_TOKEN } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

describe('Credentials', () => {
  const service = useSharedService();

  describe('None, or another scheme, is a 4010', () => {
    const none: [title: string, authorization: string | undefined][] = [
      ['no field', undefined],
      ['an empty field', ''],
      ['Basic', `Basic ${Buffer.from(`${MARK}:${MARK}`).toString('base64')}`],
      ['a scheme that begins with Bearer', `Bearer${TOKEN}`],
      ['the token alone', TOKEN],
    ];
    testEach(service, [
      ...none.map(([title, authorization]) =>
        creating(title, { headers: { authorization } }, 4010),
      ),
      creating(
        'a token in the query, the body and a cookie',
        {
          target: `/plants?access_token=${encodeURIComponent(TOKEN)}`,
          headers: { authorization: undefined, cookie: `access_token=${TOKEN}` },
          body: plantText(undefined, `"access_token":"${TOKEN}"`),
        },
        4010,
      ),
    ]);
  });

  describe('A bearer token that is malformed or unknown is a 4011', () => {
    const refused: [title: string, authorization: string | string[]][] = [
      ['no token', 'Bearer'],
      ['two tokens', `Bearer ${TOKEN} ${TOKEN}`],
      ['a parameter after the token', `Bearer ${TOKEN}, realm="x"`],
      ['a token in quotes', `Bearer "${TOKEN}"`],
      ['padding inside', `Bearer ${MARK}=x`],
      ['a character that no token has', `Bearer ${MARK}!`],
      ['a byte beyond ASCII', `Bearer ${MARK}\xe4`],
      ['a tab instead of the space', `Bearer\t${TOKEN}`],
      ['an unknown token', `Bearer ${MARK}`],
      ['one character more', `Bearer ${TOKEN}=`],
      ['the digest of the token', `Bearer ${sha256(TOKEN)}`],
      ['the name of a property', 'Bearer __proto__'],
      ['more than 8 KiB', `Bearer ${'x'.repeat(8193)}`],
      ['the valid one in two fields', [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]],
      ['a valid and an unknown one in two fields', [`Bearer ${TOKEN}`, `Bearer ${MARK}`]],
      ['a valid one after another scheme', [`Basic ${MARK}`, `Bearer ${TOKEN}`]],
    ];
    const says = 'the bearer token is malformed, unknown, expired, or not meant for this service';
    testEach(service, [
      ...refused.map(([title, authorization]) =>
        creating(title, { headers: { authorization } }, { error: 4011, says }),
      ),
      creating(
        'a colon after the scheme',
        { headers: { authorization: `Bearer: ${TOKEN}` } },
        { error: [4010, 4011] },
      ),
    ]);
  });

  describe('A valid token is accepted', () => {
    for (const authorization of [`bEaReR ${TOKEN}`, `Bearer   ${TOKEN}`, `   Bearer ${TOKEN}   `]) {
      testEach(service, [creating(JSON.stringify(authorization), { headers: { authorization } })]);
    }
  });

  const visitor = { authorization: `Bearer ${VISITOR_TOKEN}` };
  testEach(service, [creating('without the permission are a 4030', { headers: visitor }, 4030)]);
});
