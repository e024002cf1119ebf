import { rejects } from 'node:assert/strict';
import { type PlantRepository, StorageUnavailableError } from '@plant-store/domain';
import { HttpError } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Health } from '../src/health.js';

function part(ready: () => Promise<void>): PlantRepository {
  return { ready, async add() {}, async close() {} };
}

describe('The health of the service', () => {
  it('is good when every part is ready, each asked at most once a second', async () => {
    let asked = 0;
    const counting = part(async () => {
      asked += 1;
    });
    const health = new Health([counting, counting]);
    for (let call = 0; call < 5; call += 1) await health.ready();
    expect(asked).to.equal(2);
  });

  it('is bad for the reason of the part that is not ready', async () => {
    const reason = new StorageUnavailableError('no primary');
    const health = new Health([part(async () => {}), part(() => Promise.reject(reason))]);
    await rejects(health.ready(), reason);
  });

  it('turns bad at the moment the service begins to stop', async () => {
    const health = new Health([part(async () => {})]);
    await health.ready();
    health.stop();
    await rejects(health.ready(), new HttpError('STOPPING'));
  });
});
