import { needsMongod } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { implementations } from '../src/implementations/implementations.js';
import { NOT_PROMISED } from '../src/implementations/insert-one.js';
import { runContract } from '../src/ladder/contract.js';

describe('insertOne, the store of examples/smallest', function () {
  this.timeout(600_000);
  before(needsMongod);

  it('passes every case of the contract suite, except those that it cannot promise', async () => {
    const [implementation = expect.fail()] = implementations;
    const results = await runContract(implementation);
    const failed = results.filter(({ failure }) => failure !== undefined);
    expect(failed.map(({ title }) => title)).to.have.members(Object.values(NOT_PROMISED).flat());
    expect(failed.length).to.be.below(results.length);
  });
});
