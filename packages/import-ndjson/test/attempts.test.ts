import {
  authenticatedClient,
  CreatePlant,
  newPlant,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { Attempts } from '../src/attempts.js';
import { BackOff } from '../src/back-off.js';

describe('The attempts to create plants', () => {
  it('are made after short pauses again once a plant was stored', async () => {
    const pauses: number[] = [];
    const responses = ['gone', 'gone', 'stored', 'gone', 'stored'];
    const plants = {
      add: async () => {
        if (responses.shift() === 'gone') throw new StorageUnavailableError('gone');
      },
      ready: async () => undefined,
      close: async () => undefined,
    };
    const client = authenticatedClient('gardener', ['create plants']);
    const attempts = new Attempts(
      { createPlant: new CreatePlant(plants), client, timeLimitMs: 1000 },
      new BackOff(new AbortController().signal, async (ms) => void pauses.push(ms)),
    );
    for (const id of [1n, 2n]) await attempts.create(newPlant({ id, name: '' }));
    expect(pauses).to.deep.equal([100, 200, 100]);
    expect(attempts.retrying).to.equal(0);
  });
});
