import { expect } from 'chai';
import { creating, exchange, testEach } from '../support/cases.js';
import { fieldValues } from '../support/raw-connection.js';
import { create, lines, type Parts, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const EVERY_CHARACTER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-';

describe('X-Request-Id', () => {
  const service = useSharedService();

  describe('is used as the id of the response:', () => {
    for (const id of ['a', '0', '-', '.', '_', EVERY_CHARACTER, 'x'.repeat(128), '__proto__']) {
      const headers = { 'x-request-id': id };
      testEach(service, [
        creating(`${id} with a 200`, { headers }, { requestId: id }),
        creating(
          `${id} with a 4010`,
          { headers: { ...headers, authorization: undefined } },
          {
            error: 4010,
            requestId: id,
          },
        ),
      ]);
    }
    const refused: [error: number, parts: Parts][] = [
      [4001, { body: '' }],
      [4002, { headers: { 'content-type': 'x' } }],
      [4003, { body: 'x'.repeat(20_000) }],
      [4004, { body: '{' }],
      [4005, { body: '{}' }],
      [4040, { target: '/x' }],
      [4050, { method: UNSERVED }],
      [4000, { headers: { expect: 'x' } }],
    ];
    for (const [error, parts] of refused) {
      const headers = { ...parts.headers, 'x-request-id': 'one-for-each' };
      const expected = { error, requestId: 'one-for-each' };
      testEach(service, [creating(`with a ${error}`, { ...parts, headers }, expected)]);
    }
  });

  describe('is generated', () => {
    for (const id of [
      ...[undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'a/b', 'a"b', 'a@b', '{a}', 'a\tb'],
      ...['pfl\xe4nzchen', ['a', 'b'], ['a', 'a']],
    ]) {
      it(`instead of ${JSON.stringify(id)?.slice(0, 40)}`, async () => {
        const bytes = create({ headers: { 'x-request-id': id } });
        const response = await exchange(service.port, bytes, { toOperation: true });
        const [made] = fieldValues(response, 'x-request-id');
        expect(made).not.to.be.oneOf([id, id?.[0]].flat());
        expect(made).to.have.length.greaterThan(7);
      });
    }

    it('for each request, also for one that cannot be parsed', async () => {
      const made = new Set<string | undefined>();
      for (const [bytes, error] of [
        [create(), undefined],
        [create(), undefined],
        [lines('GARBAGE'), 4000],
        [lines('GARBAGE'), 4000],
      ] as const) {
        const expected = error === undefined ? {} : { error };
        made.add(fieldValues(await exchange(service.port, bytes, expected), 'x-request-id')[0]);
      }
      expect(made.size).to.equal(4);
    });
  });
});
