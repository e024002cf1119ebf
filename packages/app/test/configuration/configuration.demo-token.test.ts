import { sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { settingsOf } from '../../src/configuration/adapter-choice.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/setting.js';
import { verifiers } from '../../src/configuration/verifiers.js';

type Env = Readonly<Record<string, string>>;

const TRIALS: readonly Env[] = [{}, { NODE_ENV: 'development' }, { NODE_ENV: 'test' }];

const OTHERS: readonly Env[] = [
  ...['production', '', ' ', ' production', 'production\n', 'Production', 'PRODUCTION', 'prod'],
  ...['porduction', '"production"', 'prd', 'live', 'staging', 'Development', 'test '],
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

const JWT = { JWT_ISSUER: 'https://login.example.com', JWT_AUDIENCE: 'plants' };
const CHOSEN: readonly Env[] = [JWT, { ACCESS_TOKEN_SHA256: sha256('a') }];

/** Resolves with whose tokens are accepted, or with the problems. */
async function outcome(env: Env): Promise<string | readonly string[]> {
  try {
    const { demoToken } = await readConfiguration({ STORAGE: 'memory', ...env }, false);
    return demoToken === undefined ? 'chosen' : 'demo token';
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('A token that is made for a run', () => {
  it('is made in a trial, when no variable of a token verifier is set, for a client that the log calls demo', async () => {
    for (const env of TRIALS) {
      const { demoToken = '', verifier } = await readConfiguration(env, false);
      const opened = await verifier.open(() => undefined);
      expect((await opened.verify(demoToken)).name).to.equal('demo');
    }
  });

  it('is not made otherwise, whatever names production or a verifier, in every form', async () => {
    for (const environment of [...TRIALS, ...OTHERS]) {
      for (const tokens of [{}, ...NAMED, ...CHOSEN]) {
        const env = { ...environment, ...tokens };
        if (TRIALS.includes(environment) && Object.keys(tokens).length === 0) continue;
        const text = JSON.stringify(env);
        const found = await outcome(env);
        expect(found, text).not.to.equal('demo token').and.not.to.have.length(0);
      }
    }
  });
});
