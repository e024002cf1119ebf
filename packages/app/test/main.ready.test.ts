import { freePort } from '@plant-store/faulty-network';
import { expect } from 'chai';
import { urlOf } from '../src/commands/own-process.js';
import { result, serveHere, stopAll } from './support/in-process.js';

/** Starts a service, and runs the command with the same settings. */
async function asked(env: Record<string, string>) {
  const { address } = await serveHere(env);
  const { code, out } = await result(['ready'], { ...env, PORT: new URL(address).port });
  return { code, body: JSON.parse(out) };
}

describe('plant-store ready', () => {
  afterEach(stopAll);

  it('ends with 0 when the service is ready, also when it listens on every address', async () => {
    expect(await asked({})).to.deep.equal({ code: 0, body: { status: 'ready' } });
    expect(await asked({ HOST: '0.0.0.0' })).to.include({ code: 0 });
    expect(urlOf('::', 3000)).to.equal('http://[::1]:3000');
    expect(urlOf('fd00::1', 3000)).to.equal('http://[fd00::1]:3000');
  });

  it('ends with 1 and the reason when the service is not ready, or does not listen', async () => {
    const { code, body } = await asked({ MONGODB_URI: 'mongodb://127.0.0.1:1' });
    expect([code, body.error]).to.deep.equal([1, 5030]);
    const PORT = `${await freePort()}`;
    const none = await result(['ready'], { PORT });
    expect(none.code).to.equal(1);
    const problem = `no response from 127.0.0.1:${PORT}: fetch failed (connect ECONNREFUSED`;
    expect(none.err.startsWith(`plant-store: ${problem}`), none.err).to.equal(true);
  });
});
