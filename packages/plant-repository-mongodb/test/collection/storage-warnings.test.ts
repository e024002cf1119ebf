import type { StorageEvent } from '@plant-store/domain';
import { expect } from 'chai';
import { StorageWarnings } from '../../src/collection/storage-warnings.js';

describe('The warnings of a storage', () => {
  it('are reported once each', () => {
    const events: StorageEvent[] = [];
    const warnings = new StorageWarnings((event) => events.push(event));
    for (let turn = 0; turn < 2; turn += 1) {
      warnings.denied('garden');
      warnings.unusable(new Error('it is a view'));
      warnings.notSetUp(new Error('no primary'));
      warnings.noCredentials();
    }
    expect(events).to.deep.equal([
      {
        type: 'storage warning',
        message: 'plants are refused: the permissions to read and insert them are missing',
        command: `db.grantRolesToUser('<the user of the service>', [{"role":"readWrite","db":"garden"}])`,
      },
      { type: 'storage warning', message: 'plants are refused: it is a view' },
      { type: 'storage warning', message: 'the collection is not set up yet: no primary' },
      {
        type: 'storage warning',
        message:
          'plants are refused: the server asks for credentials, and the connection string has none',
      },
    ]);
  });
});
