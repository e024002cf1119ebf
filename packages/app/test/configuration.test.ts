import { expect } from 'chai';
import { ConfigurationError, readConfiguration } from '../src/configuration.js';

const DIGEST = 'a'.repeat(64);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfiguration(env, false);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('The configuration', () => {
  it('has a default for everything outside production', () => {
    expect(readConfiguration({}, false)).to.include({
      HOST: '127.0.0.1',
      PORT: 3000,
      STORAGE: 'memory',
      BODY_LIMIT: 16_384,
      MAX_IN_FLIGHT: 1000,
      REQUEST_DEADLINE_MS: 15_000,
      HEADERS_TIMEOUT_MS: 10_000,
      REQUEST_TIMEOUT_MS: 15_000,
      KEEP_ALIVE_TIMEOUT_MS: 72_000,
      SHUTDOWN_DELAY_MS: 0,
      SHUTDOWN_TIMEOUT_MS: 25_000,
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      production: false,
    });
  });

  it('logs for people on a terminal, unless it was told otherwise', () => {
    expect(readConfiguration({}, true).LOG_FORMAT).to.equal('pretty');
    expect(readConfiguration({ LOG_FORMAT: 'json' }, true).LOG_FORMAT).to.equal('json');
  });

  it('takes several digests, in either case and with space around the commas', () => {
    const text = `${DIGEST.toUpperCase()} , ${'b'.repeat(64)}`;
    expect(
      readConfiguration({ ACCESS_TOKEN_SHA256: text }, false).ACCESS_TOKEN_SHA256,
    ).to.deep.equal([DIGEST, 'b'.repeat(64)]);
  });

  it('under production lets neither memory nor a token be implied', () => {
    const problems = problemsOf({ NODE_ENV: 'production' });
    expect(problems.map((problem) => problem.split(':', 1)[0])).to.deep.equal([
      'STORAGE',
      'ACCESS_TOKEN_SHA256',
    ]);
    const said = { NODE_ENV: 'production', STORAGE: 'memory', ACCESS_TOKEN_SHA256: DIGEST };
    expect(problemsOf(said)).to.deep.equal([]);
  });

  const faulty: readonly [variable: string, value: string][] = [
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['PORT', '0x10'],
    ['PORT', ' 3000'],
    ['HOST', ''],
    ['HOST', 'a host'],
    ['BASE_PATH', ''],
    ['BASE_PATH', 'store'],
    ['BASE_PATH', '/store/'],
    ['BASE_PATH', '/:store'],
    ['STORAGE', 'disk'],
    ['ACCESS_TOKEN_SHA256', 'my-token'],
    ['ACCESS_TOKEN_SHA256', `${DIGEST},`],
    ['ACCESS_TOKEN_SHA256', `${DIGEST},${DIGEST}`],
    ['BODY_LIMIT', '0'],
    ['MAX_IN_FLIGHT', '1e3'],
    ['REQUEST_DEADLINE_MS', '0'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['NODE_ENV', ''],
  ];
  for (const [variable, value] of faulty) {
    it(`refuses ${variable}='${value}', naming the variable, the rule and the mend`, () => {
      const [problem = '', ...others] = problemsOf({ [variable]: value });
      expect(others).to.deep.equal([]);
      expect(problem).to.match(
        new RegExp(
          `^${variable}: expected .+, found .+\\. Unset it, or set for example ${variable}=`,
        ),
      );
    });
  }

  it('never repeats a secret', () => {
    expect(problemsOf({ ACCESS_TOKEN_SHA256: 'my-token' })[0]).not.to.include('my-token');
  });

  it('refuses headers that may take longer than their request', () => {
    const [problem = ''] = problemsOf({ HEADERS_TIMEOUT_MS: '20000' });
    expect(problem).to.match(/^HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS/);
  });

  for (const [name, meant] of Object.entries({
    PROT: 'PORT',
    PORTS: 'PORT',
    ACCESS_TOKEN_SHA265: 'ACCESS_TOKEN_SHA256',
    ACCESS_TOKENS_SHA256: 'ACCESS_TOKEN_SHA256',
    LOG_LEVLE: 'LOG_LEVEL',
    SHUTDOWN_DELAY: undefined,
    HOME: undefined,
    PATH: undefined,
  })) {
    it(meant ? `takes ${name} for a misspelt ${meant}` : `does not mind ${name}`, () => {
      expect(problemsOf({ [name]: '1' })).to.deep.equal(
        meant
          ? [`${name}: not a variable of this service. Rename it to ${meant}, or unset it`]
          : [],
      );
    });
  }
});
