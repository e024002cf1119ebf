import { expect } from 'chai';
import { creating, exchange, groups } from '../support/cases.js';
import { fieldValues } from '../support/raw-connection.js';
import { create, lines } from '../support/requests.js';
import { OTHER_SETTINGS, useSharedService } from '../support/service.js';

const EVERY_CHARACTER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-';
const TAKEN_OVER = ['-', EVERY_CHARACTER, 'x'.repeat(128), '__proto__'];
const INVALID = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', '{a}', 'a\tb', 'pfl\xe4nzchen'];

describe('X-Request-Id', () => {
  const service = useSharedService();

  groups(service)(
    'is used as the id of the response:',
    ...TAKEN_OVER.map((id) => creating(id, { headers: { 'x-request-id': id } }, { requestId: id })),
  );

  for (const id of [undefined, ...INVALID, ['a', 'b'], ['a', 'a']]) {
    it(`is generated instead of ${JSON.stringify(id)?.slice(0, 40)}`, async () => {
      const bytes = create({ headers: { 'x-request-id': id } });
      const response = await exchange(service().port, bytes, { toOperation: true });
      const [made] = fieldValues(response, 'x-request-id');
      expect(made).not.to.be.oneOf([id, id?.[0]].flat());
      expect(made).to.have.length.greaterThan(7);
    });
  }
});

describe('At level debug, the log has the id of the response', () => {
  const service = useSharedService(OTHER_SETTINGS);

  it('to each request, also for one that cannot be parsed', async () => {
    const made = new Set<string>();
    for (const isValid of [true, true, false, false]) {
      const bytes = isValid ? create() : lines('GARBAGE');
      const response = await exchange(service().port, bytes, isValid ? {} : 4000);
      const [id = ''] = fieldValues(response, 'x-request-id');
      await service().printed(new RegExp(`"${id}"`));
      made.add(id);
    }
    expect(made.size).to.equal(4);
  });
});
