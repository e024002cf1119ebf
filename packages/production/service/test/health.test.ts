import { StoreDegradedError } from '@plant-store/plant-repository-group-commit';
import { Health } from '../src/health.js';

describe('The health of the service', () => {
  it('is good while the database is slow', async () => {
    const slow = { ready: () => Promise.reject(new StoreDegradedError('not in time')) };
    const health = new Health(slow, { ready: async () => undefined });
    await health.ready().finally(() => health.stop());
  });
});
