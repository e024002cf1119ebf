import { rejects } from 'node:assert/strict';
import {
  type Client,
  DEFAULT_PERMISSIONS,
  newPlant,
  PERMISSIONS,
  PermissionDeniedError,
} from '@plant-store/domain';
import { type PlantReader, ReadPlants } from '@plant-store/plant-reader';
import { expect } from 'chai';

const reader: Client = { name: 'reader', permissions: new Set(PERMISSIONS) };
const gardener: Client = { name: 'gardener', permissions: new Set(['create plants']) };
const plant = newPlant({ id: 1n, name: 'Monstera' });

const tokens = {
  async verify(token: string) {
    if (token === 'gardener') return gardener;
    return token === 'reader'
      ? reader
      : { name: 'by default', permissions: new Set(DEFAULT_PERMISSIONS) };
  },
  async ready() {},
  async close() {},
};

function recording() {
  const calls: unknown[] = [];
  const plants: PlantReader = {
    async read(...call) {
      calls.push(call);
      return [plant];
    },
  };
  return { calls, readPlants: new ReadPlants(tokens, plants) };
}

describe('Reading plants', () => {
  it('passes the page request and the time limit to the reader', async () => {
    const { calls, readPlants } = recording();
    const page = { after: plant.id, limit: 7 };
    for (const token of ['reader', 'by default']) {
      const pages = await readPlants.authorize(token);
      expect(await pages.read(page, 1234)).to.deep.equal([plant]);
    }
    expect(calls).to.deep.equal(Array(2).fill([page, 1234]));
  });

  it('refuses a client without the permission, without calling the reader', async () => {
    const { calls, readPlants } = recording();
    await rejects(readPlants.authorize('gardener'), PermissionDeniedError);
    expect(calls).to.deep.equal([]);
  });
});
