import { expect } from 'chai';
import { settingsOf } from '../../src/configuration/adapter-choice.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { verifiers } from '../../src/configuration/verifiers.js';
import { configured, type Env, problemsOf } from '../support/configured.js';

const TRIALS: readonly Env[] = [{}, { NODE_ENV: 'development' }, { NODE_ENV: 'test' }];

/** What says that this is production, or names a verifier, however it is written. */
const OTHERS: readonly Env[] = [
  ...['production', '', ' production', 'Production', 'prod', '"production"', 'prd', 'staging'].map(
    (NODE_ENV) => ({ NODE_ENV }),
  ),
  ...['node_env', 'NOD_ENV', 'NODE_ENV_FILE', 'APP_ENV', 'ENVIRONMENT'].map((name) => ({
    [name]: 'production',
  })),
  ...[...Object.keys(settingsOf(verifiers)), 'ACCESS_TOKEN'].flatMap((name) =>
    [name, `${name}_FILE`, `${name}S`, name.toLowerCase()].map((it) => ({ [it]: '/none' })),
  ),
];

describe('A demo token', () => {
  it('is generated in development mode without token settings, for a client named demo', async () => {
    for (const env of TRIALS) {
      const { demoToken = '', verifier } = await readConfiguration(env);
      const opened = await verifier.open(() => undefined);
      expect((await opened.verify(demoToken)).name).to.equal('demo');
    }
  });

  it('is not generated if a variable names production or a verifier', async () => {
    for (const env of OTHERS) {
      await problemsOf({ STORAGE: 'memory', ...env }, async (it) => {
        const { demoToken } = await configured(it);
        expect(demoToken, JSON.stringify(it)).to.equal(undefined);
      });
    }
  });
});
