import { PERMISSIONS } from '@plant-store/domain';
import { sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import {
  advice,
  readClientConfiguration,
  readConfiguration,
} from '../../src/configuration/configuration.js';
import { settings } from '../../src/configuration/settings.js';
import { demoVerifier } from '../../src/configuration/verifiers.js';
import { DIGEST, invalid, problemsOf } from '../support/broken-configurations.js';

const PRODUCTION = { NODE_ENV: 'production', ACCESS_TOKEN_SHA256: DIGEST };

describe('The configuration', () => {
  it('has a default for everything outside of production', async () => {
    expect(await readConfiguration({}, false)).to.include({
      HOST: '127.0.0.1',
      PORT: 3000,
      BODY_LIMIT: 16_384,
      MAX_IN_FLIGHT: 1000,
      REQUEST_DEADLINE_MS: 15_000,
      HEADERS_TIMEOUT_MS: 10_000,
      REQUEST_TIMEOUT_MS: 15_000,
      KEEP_ALIVE_TIMEOUT_MS: 72_000,
      SHUTDOWN_DELAY_MS: 0,
      SHUTDOWN_TIMEOUT_MS: 35_000,
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      production: false,
    });
  });

  it('has a log for people on a terminal, unless it is configured otherwise', async () => {
    expect((await readConfiguration({}, true)).LOG_FORMAT).to.equal('pretty');
    expect((await readConfiguration({ LOG_FORMAT: 'json' }, true)).LOG_FORMAT).to.equal('json');
  });

  it('has a docs page, except in production, unless it is configured otherwise', async () => {
    const docs = async (env: Record<string, string>) => (await readConfiguration(env, false)).DOCS;
    const production = { ...PRODUCTION, STORAGE: 'memory' };
    expect([await docs({}), await docs({ DOCS: 'off' })]).to.deep.equal(['on', 'off']);
    expect(await docs(production)).to.equal('off');
    expect(await docs({ ...production, DOCS: 'on' })).to.equal('on');
  });

  it('accepts several digests, in either case and with spaces around the commas', async () => {
    const list = `${sha256('first').toUpperCase()} , ${sha256('second')}`;
    const { verifier } = await readConfiguration({ ACCESS_TOKEN_SHA256: list }, false);
    const opened = await verifier?.open(() => undefined);
    expect((await opened?.verifier.verify('first'))?.name).to.equal('token 1');
    expect((await opened?.verifier.verify('second'))?.name).to.equal('token 2');
  });

  it('accepts several origins, with spaces around the commas', async () => {
    const list = 'https://nursery.example , http://localhost:5173';
    const { CORS_ALLOWED_ORIGINS } = await readConfiguration({ CORS_ALLOWED_ORIGINS: list }, false);
    expect(CORS_ALLOWED_ORIGINS).to.deep.equal([
      'https://nursery.example',
      'http://localhost:5173',
    ]);
  });

  for (const [variable, value] of invalid) {
    it(`refuses ${variable}=${JSON.stringify(value)} with the name, the rule and the fix`, async () => {
      const [problem = '', ...others] = await problemsOf({ [variable]: value });
      expect(others).to.deep.equal([]);
      expect(problem).to.match(
        new RegExp(
          `^${variable}: expected .+, found .+\\. Unset it, or set for example ${variable}=`,
        ),
      );
    });
  }

  it('reveals no secret in its problems', async () => {
    const secrets = Object.keys(settings).filter((name) => settings[name]?.secret);
    expect(secrets).to.include.members(['ACCESS_TOKEN_SHA256', 'MONGODB_URI', 'ACCESS_TOKEN']);
    for (const variable of secrets) {
      const env = { [variable]: 'mongodb://me:my-secret@@@' };
      const problems = await problemsOf(env, readClientConfiguration);
      expect(problems.join()).to.include(variable);
      expect(problems.join()).not.to.include('my-secret');
    }
  });

  it('causes advice about a shutdown that is shorter than a request', async () => {
    const adviceFor = async (env: Record<string, string>) =>
      advice(await readConfiguration(env, false)).join();
    const times = { REQUEST_TIMEOUT_MS: '20000', REQUEST_DEADLINE_MS: '30000' };
    expect(await adviceFor({ ...times, SHUTDOWN_TIMEOUT_MS: '51000' })).to.equal('');
    expect(await adviceFor({ ...times, SHUTDOWN_TIMEOUT_MS: '50999' })).to.match(
      /^SHUTDOWN_TIMEOUT_MS: .* up to 51000 ms .*\. Set it to 51000 or more$/,
    );
    expect(await adviceFor(times)).to.match(/^SHUTDOWN_TIMEOUT_MS: /);
  });

  for (const [name, meant] of Object.entries({
    PROT: 'PORT',
    POST: 'HOST',
    HOSTS: 'HOST',
    COST: 'HOST',
    DOC: 'DOCS',
    ACCESS_TOKEN_SHA265: 'ACCESS_TOKEN_SHA256',
    LOG_LEVLE: 'LOG_LEVEL',
    SHUTDOWN_DELAY: undefined,
    HOME: undefined,
  })) {
    it(
      meant ? `causes advice about ${name}, which resembles ${meant}` : `ignores ${name}`,
      async () => {
        expect(advice(await readConfiguration({ [name]: '1' }, false))).to.deep.equal(
          meant
            ? [
                `${name}: ignored, since it is not a variable of this service. Rename it if ${meant} is meant`,
              ]
            : [],
        );
      },
    );
  }

  it('mentions variables that resemble others among the problems, if there are any', async () => {
    const problems = await problemsOf({ NODE_ENV: 'production', MONGO_URI: 'mongodb://a' });
    expect(problems.at(-1)).to.match(/^MONGO_URI: ignored, .*MONGODB_URI/);
  });

  it('causes advice about a deadline that is shorter than an election', async () => {
    const adviceFor = async (env: Record<string, string>) => {
      const configuration = { ...env, MONGODB_URI: 'mongodb://127.0.0.1/' };
      return advice(await readConfiguration(configuration, false)).join();
    };
    expect(await adviceFor({})).to.equal('');
    expect(await adviceFor({ REQUEST_DEADLINE_MS: '12000' })).to.equal('');
    expect(await adviceFor({ REQUEST_DEADLINE_MS: '11999' })).to.match(/^REQUEST_DEADLINE_MS: /);
  });
});

describe('The verifier without configuration', () => {
  it('accepts only its own token, for a client with the name demo', async () => {
    const { name, demoToken = '', open } = demoVerifier();
    expect(name).to.equal('static');
    const { verifier } = await open(() => undefined);
    const client = await verifier.verify(demoToken);
    expect(client.name).to.equal('demo');
    expect([...client.permissions]).to.deep.equal([...PERMISSIONS]);
  });
});
