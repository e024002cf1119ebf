import { expect } from 'chai';
import { StartError } from '../src/commands/start-error.js';
import { UsageError } from '../src/commands/usage-error.js';
import { ConfigurationError } from '../src/configuration/configuration-error.js';

describe('An error of the command', () => {
  it('has the name of its class', () => {
    const errors = [new StartError('x'), new UsageError('x'), new ConfigurationError(['x'])];
    expect(errors.map(({ name }) => name)).to.deep.equal([
      'StartError',
      'UsageError',
      'ConfigurationError',
    ]);
  });
});
