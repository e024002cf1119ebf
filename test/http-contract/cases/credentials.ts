import { sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { creating, exchange, sending, testEach } from '../support/cases.js';
import {
  create,
  MARK,
  plantText,
  request,
  SECOND_TOKEN,
  TOKEN,
  VISITOR_TOKEN,
} from '../support/requests.js';
import { OTHER_SETTINGS, useSharedService } from '../support/service.js';

describe('Credentials', () => {
  const service = useSharedService();

  describe('None, or another scheme, is a 4010', () => {
    const none: [title: string, authorization: string | undefined][] = [
      ['no field', undefined],
      ['an empty field', ''],
      ['white space only', '   '],
      ['Basic', `Basic ${Buffer.from(`${MARK}:${MARK}`).toString('base64')}`],
      ['a scheme that begins with Bearer', `Bearer${TOKEN}`],
      ['the token alone', TOKEN],
    ];
    testEach(
      service,
      none.map(([title, authorization]) => creating(title, { headers: { authorization } }, 4010)),
    );
    const withoutField = { authorization: undefined };
    testEach(service, [
      creating(
        'a token in the query is ignored',
        { target: `/plants?access_token=${encodeURIComponent(TOKEN)}`, headers: withoutField },
        4010,
      ),
      creating(
        'a token in the body is ignored',
        { body: plantText(undefined, `"access_token":"${TOKEN}"`), headers: withoutField },
        4010,
      ),
      creating(
        'a token in a cookie is ignored',
        { headers: { ...withoutField, cookie: `access_token=${TOKEN}` } },
        4010,
      ),
      creating(
        'a token in a trailer is ignored',
        { headers: { ...withoutField, trailer: 'Authorization' } },
        4010,
      ),
    ]);
  });

  describe('A bearer token that is malformed or unknown is a 4011', () => {
    const refused: [title: string, authorization: string | string[]][] = [
      ['no token', 'Bearer'],
      ['only spaces after the scheme', 'Bearer    '],
      ['two tokens', `Bearer ${TOKEN} ${TOKEN}`],
      ['two tokens with a comma', `Bearer ${TOKEN},${TOKEN}`],
      ['a parameter after the token', `Bearer ${TOKEN}, realm="x"`],
      ['a token in quotes', `Bearer "${TOKEN}"`],
      ['padding inside', `Bearer ${MARK}=x`],
      ['a character that no token has', `Bearer ${MARK}!`],
      ['a byte beyond ASCII', `Bearer ${MARK}\xe4`],
      ['a tab instead of the space', `Bearer\t${TOKEN}`],
      ['an unknown token', `Bearer ${MARK}`],
      ['one character less', `Bearer ${TOKEN.slice(0, -1)}`],
      ['one character more', `Bearer ${TOKEN}=`],
      ['the digest of the token', `Bearer ${sha256(TOKEN)}`],
      ['the name of a property', 'Bearer __proto__'],
      ['an unsigned JWT', `Bearer ${jwt({ alg: 'none' }, { sub: MARK })}`],
      ['more than 8 KiB', `Bearer ${'x'.repeat(8193)}`],
      ['the valid one in two fields', [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]],
      ['a valid and an unknown one in two fields', [`Bearer ${TOKEN}`, `Bearer ${MARK}`]],
      ['a valid one after another scheme', [`Basic ${MARK}`, `Bearer ${TOKEN}`]],
    ];
    testEach(
      service,
      refused.map(([title, authorization]) =>
        creating(title, { headers: { authorization } }, 4011),
      ),
    );
    testEach(service, [
      creating(
        'a colon after the scheme',
        { headers: { authorization: `Bearer: ${TOKEN}` } },
        { error: [4010, 4011] },
      ),
    ]);

    it('has the same body for each reason', async () => {
      const bodies = new Set<string>();
      for (const [, authorization] of refused) {
        const bytes = create({ headers: { authorization } });
        const response = await exchange(service.port, bytes, 4011);
        bodies.add(response.body.toString());
      }
      expect([...bodies]).to.have.length(1);
    });
  });

  describe('A valid token is accepted', () => {
    for (const authorization of [`bEaReR ${TOKEN}`, `Bearer   ${TOKEN}`, `   Bearer ${TOKEN}   `]) {
      testEach(service, [creating(JSON.stringify(authorization), { headers: { authorization } })]);
    }
  });

  describe('A request without valid credentials', () => {
    for (const body of ['{', '', plantText(), 'x'.repeat(16_385)]) {
      testEach(service, [
        sending(
          `gets the same response for a body of ${body.length} bytes`,
          request({ body, headers: { authorization: `Bearer ${MARK}` } }),
          { error: 4011, toOperation: true },
        ),
      ]);
    }
  });
});

describe('A token without the permission', () => {
  const service = useSharedService();
  const headers = { authorization: `Bearer ${VISITOR_TOKEN}` };

  testEach(service, [creating('is a 4030', { headers }, 4030)]);
});

describe('Several tokens', () => {
  const service = useSharedService(OTHER_SETTINGS);

  testEach(service, [
    creating('the first is accepted', {}),
    creating('the second is accepted', { headers: { authorization: `Bearer ${SECOND_TOKEN}` } }),
    creating('another is refused', { headers: { authorization: `Bearer ${MARK}` } }, 4011),
  ]);
});

function jwt(...parts: object[]): string {
  return `${parts.map((it) => Buffer.from(JSON.stringify(it)).toString('base64url')).join('.')}.`;
}
