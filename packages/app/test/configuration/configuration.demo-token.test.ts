import { sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { settingsOf } from '../../src/configuration/adapter-choice.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { verifiers } from '../../src/configuration/verifiers.js';
import { configured, type Env, JWT, problemsOf } from '../support/configured.js';

const TRIALS: readonly Env[] = [{}, { NODE_ENV: 'development' }, { NODE_ENV: 'test' }];

const OTHERS: readonly Env[] = [
  'production',
  '',
  ' ',
  ' production',
  'production\n',
  'Production',
  'PRODUCTION',
  'prod',
  'porduction',
  '"production"',
  'prd',
  'live',
  'staging',
  'Development',
  'test ',
]
  .map((NODE_ENV): Env => ({ NODE_ENV }))
  .concat(
    ['node_env', 'Node_Env', 'NOD_ENV', 'NODE_ENVS', 'NODE_ENV_FILE', 'NODE_ENV_FIEL'].map(
      (name) => ({ [name]: 'production' }),
    ),
    ...['node_env_file', 'NDE_ENV_FILE'].map((name) => ({ [name]: '/none' })),
    ...['ENV', 'APP_ENV', 'NODE_ENVIRONMENT'].map((name) => ({ [name]: 'production' })),
  );

/** Every setting of a token verifier, and the one that is taken for it, in every form. */
const NAMED = [...Object.keys(settingsOf(verifiers)), 'ACCESS_TOKEN'].flatMap((name): Env[] => [
  ...[sha256('a'), 'https://login.example.com', '', ' '].map((value) => ({ [name]: value })),
  ...['_FILE', '_FIEL', 'S', '_'].map((end) => ({ [`${name}${end}`]: '/none' })),
  ...[name.toLowerCase(), name.slice(1), name.replace('_', '')].flatMap((it) => [
    { [it]: '/none' },
    { [`${it}_FILE`]: '/none' },
  ]),
  ...['JWT_ISSUER_URL', 'JWT_KEY', 'OIDC_ISSUER'].map((it) => ({ [it]: '/none' })),
]);

const CHOSEN: readonly Env[] = [JWT, { ACCESS_TOKEN_SHA256: sha256('a') }];

describe('A token that is made for a run', () => {
  it('is made in trials without token settings, for a client named demo', async () => {
    for (const env of TRIALS) {
      const { demoToken = '', verifier } = await readConfiguration(env, false);
      const opened = await verifier.open(() => undefined);
      expect((await opened.verify(demoToken)).name).to.equal('demo');
    }
  });

  it('is not made if anything names production or a verifier, however written', async () => {
    for (const environment of [...TRIALS, ...OTHERS]) {
      for (const tokens of [{}, ...NAMED, ...CHOSEN]) {
        const env = { ...environment, ...tokens };
        if (TRIALS.includes(environment) && Object.keys(tokens).length === 0) continue;
        await problemsOf({ STORAGE: 'memory', ...env }, async (it) => {
          const { demoToken } = await configured(it);
          expect(demoToken, JSON.stringify(it)).to.equal(undefined);
        });
      }
    }
  });
});
