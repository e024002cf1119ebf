import { expect } from 'chai';
import { may } from '../../src/collection/privileges.js';

const on = (resource: object, ...actions: string[]) => ({
  authInfo: {
    authenticatedUsers: [{ user: 'plant-store', db: 'admin' }],
    authenticatedUserPrivileges: [{ resource, actions }],
  },
});

const rows: readonly [string, object, boolean][] = [
  ['insert on the collection', on({ db: 'garden', collection: 'plants' }, 'find', 'insert'), true],
  ['insert on every database', on({ db: '', collection: '' }, 'insert'), true],
  ['every action on every resource', on({ anyResource: true }, 'anyAction'), true],
  ['find alone', on({ db: 'garden', collection: 'plants' }, 'find'), false],
  ['insert on another collection', on({ db: 'garden', collection: 'weeds' }, 'insert'), false],
  ['insert on another database', on({ db: 'park', collection: 'plants' }, 'insert'), false],
  ['a server without authentication', { authInfo: { authenticatedUsers: [] } }, true],
  ['a server that does not know the command', {}, true],
];

describe('Privileges to insert', () => {
  for (const [what, status, expected] of rows) {
    it(`are ${expected ? 'found' : 'missing'} with ${what}`, () => {
      expect(may('insert', status, 'garden', 'plants')).to.equal(expected);
    });
  }
});
