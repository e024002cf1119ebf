import { newPlant } from '@plant-store/domain';
import { createApp } from '@plant-store/http-koa';
import { showPlantRoute } from '@plant-store/http-operations';
import { MemoryPlantReader, ShowPlant } from '@plant-store/plant-reader';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import { Embedding, errorOf } from './support/embedding.js';

describe('GET /plants/{id}', () => {
  const embedding = new Embedding();
  let origin: string;

  before(async () => {
    const { createPlant } = embedding.dependencies;
    const tokens = new StaticTokenVerifier([
      { sha256: tokenDigest('visitor'), label: 'visitor', permissions: ['show plants'] },
      { sha256: tokenDigest('creator'), label: 'creator' },
    ]);
    const bellis = newPlant({ id: -1n, name: 'Bellis perennis' });
    const plants = new MemoryPlantReader(new Map([[bellis.id, bellis]]));
    const route = showPlantRoute(new ShowPlant(tokens, plants));
    origin = await embedding.serve(createApp(createPlant, { routes: [route] }));
  });

  after(() => embedding.close());

  const show = (id: string, token = 'visitor') =>
    fetch(`${origin}/plants/${id}`, { headers: { authorization: `Bearer ${token}` } });

  it('returns the plant, without its id', async () => {
    const response = await show('-1');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ name: 'Bellis perennis' });
  });

  it('responds 4041 if no plant has the id, or if it is not spelled like an id', async () => {
    for (const id of ['1', '9223372036854775808', '-01', '-1.0', 'seven', '-%31']) {
      expect(await errorOf(await show(id)), id).to.equal(4041);
    }
  });

  it('tells nobody without the permission whether a plant exists', async () => {
    for (const id of ['-1', '1']) {
      expect(await errorOf(await show(id, 'another'))).to.equal(4011);
      expect(await errorOf(await show(id, 'creator'))).to.equal(4030);
    }
  });
});
