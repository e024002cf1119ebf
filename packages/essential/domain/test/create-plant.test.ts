import { rejects } from 'node:assert/strict';
import {
  type Client,
  CreatePlant,
  DEFAULT_PERMISSIONS,
  InvalidTokenError,
  newPlant,
  PERMISSIONS,
  type PlantRepository,
  type TokenVerifier,
} from '@plant-store/domain';
import { expect } from 'chai';

const gardener: Client = { name: 'gardener', permissions: new Set(PERMISSIONS) };
const monstera = newPlant({ id: 1n, name: 'Monstera', tag: 'tropical' });

const unknown = new InvalidTokenError('unknown');
const clients = new Map<string, Client>([
  ['gardener', gardener],
  ['by default', { name: 'by default', permissions: new Set(DEFAULT_PERMISSIONS) }],
  ['visitor', { name: 'visitor', permissions: new Set() }],
]);

const tokens: TokenVerifier = {
  async verify(token) {
    const client = clients.get(token);
    if (client === undefined) throw unknown;
    return client;
  },
  async ready() {},
  async close() {},
};

function recording() {
  const calls: unknown[] = [];
  const plants: PlantRepository = {
    async add(...call) {
      calls.push(call);
    },
    async ready() {},
    async close() {},
  };
  return { calls, createPlant: new CreatePlant(tokens, plants) };
}

describe('Creating a plant', () => {
  it('stores the plant and returns it without its id', async () => {
    const { calls, createPlant } = recording();
    const fern = newPlant({ id: 2n, name: 'Fern' });
    const creators = [
      await createPlant.authorize('gardener'),
      await createPlant.authorize('by default'),
    ] as const;
    const created = [
      await creators[0].create(monstera, 1234),
      await creators[1].create(fern, 5678),
    ];
    expect(creators[0].client).to.equal(gardener);
    expect(created).to.deep.equal([{ name: 'Monstera', tag: 'tropical' }, { name: 'Fern' }]);
    expect(calls).to.deep.equal([
      [monstera, 1234],
      [fern, 5678],
    ]);
  });

  it('refuses a client without the permission, without calling the repository', async () => {
    const { calls, createPlant } = recording();
    const denied = { name: 'PermissionDeniedError', client: clients.get('visitor') };
    await rejects(createPlant.authorize('visitor'), denied);
    await rejects(createPlant.authorize('stranger'), unknown);
    expect(calls).to.deep.equal([]);
  });

  it('does not compile with a plant that newPlant has not validated', async () => {
    const creator = await recording().createPlant.authorize('gardener');
    // @ts-expect-error: a plant that was not checked by newPlant is not a NewPlant
    const unchecked = () => creator.create({ id: 1n, name: '' }, 1000);
    expect(unchecked).to.be.a('function');
  });
});
