import { newPlant, ShowPlant } from '@plant-store/domain';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import { Embedding } from '../support/embedding.js';

const TOKEN = 'the-token-of-a-reader';
/** The token of a client with the default permissions. */
const CREATOR = 'the-token-of-a-creator';

describe('GET /plants/{id}', () => {
  const plants = [
    newPlant({ id: 9007199254740993n, name: 'Monstera deliciosa', tag: 'tropical' }),
    newPlant({ id: -1n, name: 'Bellis perennis' }),
  ];
  const embedding = new Embedding();
  let origin: string;

  before(async () => {
    for (const plant of plants) embedding.plants.set(plant.id, plant);
    const tokens = new StaticTokenVerifier([
      { sha256: tokenDigest(TOKEN), label: 'reader', permissions: ['show plants'] },
      { sha256: tokenDigest(CREATOR), label: 'creator' },
    ]);
    const showPlant = new ShowPlant(tokens, new MemoryPlantRepository(embedding.plants));
    origin = (await embedding.start({ showPlant })).url;
  });

  after(() => embedding.close());

  const show = (id: string, authorization = `Bearer ${TOKEN}`) =>
    fetch(`${origin}/plants/${id}`, { headers: { authorization } });

  it('returns the plant, without its id', async () => {
    const tagged = await show('9007199254740993');
    expect(tagged.status).to.equal(200);
    expect(await tagged.json()).to.deep.equal({ name: 'Monstera deliciosa', tag: 'tropical' });
    expect(await (await show('-1')).json()).to.deep.equal({ name: 'Bellis perennis' });
  });

  const others = ['9007199254740992', '9223372036854775808', '-01', '1.0', 'seven', '-%31'];
  for (const [error, ids] of [
    [4041, others],
    [4040, ['-1/']],
  ] as const) {
    for (const id of ids) {
      it(`responds 404 to ${id}, with ${error}`, async () => {
        const response = await show(id);
        expect(response.status).to.equal(404);
        expect(await response.json()).to.deep.include({ error });
      });
    }
  }

  it('responds 401 without a valid token, whether the plant exists or not', async () => {
    for (const id of ['-1', '1']) {
      const response = await show(id, 'Bearer another');
      expect(response.status).to.equal(401);
    }
  });

  it('responds 403 to a token with only the default permissions', async () => {
    const response = await show('-1', `Bearer ${CREATOR}`);
    expect(response.status).to.equal(403);
  });
});
