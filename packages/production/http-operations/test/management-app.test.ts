import { createManagementApp } from '@plant-store/http-operations';
import { expect } from 'chai';
import { errorOf, useEmbedding } from './support/embedding.js';

describe('The management application', () => {
  const embedding = useEmbedding();

  it('serves metrics and health checks, and reports its own failures', async () => {
    const { ready, observer } = embedding.dependencies;
    const bug = new TypeError('a bug');
    const texts = [async () => 'plants 1', () => Promise.reject(bug)];
    const metrics = {
      contentType: 'text/plain; version=9',
      text: async () => texts.shift()?.() ?? '',
    };
    const url = await embedding.serve(createManagementApp({ ready, metrics, observer }));
    const response = await fetch(`${url}/metrics`);
    expect([response.status, await response.text()]).to.deep.equal([200, 'plants 1']);
    expect(response.headers.get('Content-Type')).to.equal('text/plain; version=9');
    expect(await errorOf(await fetch(`${url}/metrics`))).to.equal(5000);
    expect(embedding.failed.map(({ cause }) => cause)).to.deep.equal([bug]);
    expect(await (await fetch(`${url}/livez`)).json()).to.deep.equal({ status: 'live' });
    expect(await (await fetch(`${url}/readyz`)).json()).to.deep.equal({ status: 'ready' });
  });
});
