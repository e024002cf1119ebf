import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { endAll, run } from '@plant-store/service-process';
import { expect } from 'chai';
import { contradictory, DIGEST, invalid } from '../configuration/broken-configurations.js';
import { silentServer } from '../silent-server.js';

const AT_ONCE = 4;

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Environments that together have every invalid value; few, because the problems of one are reported together. */
function faultyTogether(): Record<string, string>[] {
  const environments: Record<string, string>[] = [];
  for (const [variable, value] of invalid) {
    const free = environments.find((env) => !(variable in env));
    if (free) free[variable] = value;
    else environments.push({ [variable]: value });
  }
  return environments;
}

describe('Starting with an invalid configuration', function () {
  this.timeout(60_000);
  afterEach(endAll);

  it(`fails before anything is opened, with the name of the variable, in each of ${invalid.length + contradictory.length} cases`, async () => {
    const taken = createServer();
    const PORT = `${await listening(taken)}`;
    const check = async (env: Record<string, string>, all: boolean): Promise<void> => {
      const own = 'MANAGEMENT_PORT' in env ? {} : { PORT };
      const service = run([], { ...own, ...env });
      const label = JSON.stringify(env);
      expect(await service.ended, label).to.equal(2);
      expect(service.stdout(), label).to.equal('');
      expect(service.stderr(), label).to.match(
        /^plant-store: invalid configuration:\n( {2}.+\n)+$/,
      );
      const named = Object.keys(env).filter((name) => service.stderr().includes(name));
      expect(named.length, label).to.be.at.least(all ? Object.keys(env).length : 1);
      expect(service.stderr(), label).not.to.include('cannot listen');
    };
    for (const env of faultyTogether()) await check(env, true);
    const queue = contradictory.values();
    const worker = async () => {
      for (const [env] of queue) await check(env, false);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    taken.close();
  });

  it('reports every problem at once', async () => {
    const service = run([], {
      PORT: 'x',
      STORAGE: 'disk',
      MONGO_URI: 'mongodb://a',
      LOG_LEVEL: '',
    });
    expect(await service.ended).to.equal(2);
    const problems = service.stderr().trimEnd().split('\n').slice(1);
    const variables = problems.map((problem) => problem.trim().split(':', 1)[0]);
    expect(variables).to.have.members(['PORT', 'STORAGE', 'MONGO_URI', 'LOG_LEVEL']);
  });
});

describe('Starting without the configured database or issuer', function () {
  this.timeout(20_000);
  let silent: Awaited<ReturnType<typeof silentServer>>;

  before(async () => {
    silent = await silentServer();
  });
  after(() => silent.close());
  afterEach(endAll);

  const absent: readonly [title: string, env: (host: string) => Record<string, string>][] = [
    [
      'MONGODB_URI',
      (host) => ({ MONGODB_URI: `mongodb://me:pass@${host}/`, ACCESS_TOKEN_SHA256: DIGEST }),
    ],
    ['JWT_ISSUER', (host) => ({ JWT_ISSUER: `http://${host}/realm`, JWT_AUDIENCE: 'plants' })],
    [
      'JWKS_URL',
      (host) => ({
        JWT_ISSUER: 'https://login.example.com',
        JWT_AUDIENCE: 'plants',
        JWKS_URL: `http://${host}/keys`,
      }),
    ],
  ];
  for (const [variable, env] of absent) {
    it(`succeeds, and soon logs one line that the host of ${variable} refuses connections or does not respond`, async () => {
      await Promise.all([1, silent.port].map((port) => expectTold(variable, port, env)));
    });
  }

  async function expectTold(
    variable: string,
    port: number,
    env: (host: string) => Record<string, string>,
  ): Promise<void> {
    const host = `127.0.0.1:${port}`;
    const service = run([], { PORT: '0', LOG_FORMAT: 'json', ...env(host) });
    const [line] = await service.printed(new RegExp(`^.*${variable}.*${host}.*\n`, 'm'));
    expect(JSON.parse(line).level).to.equal('warn');
    await service.printed(/listening/);
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
    const reported = service
      .stdout()
      .split('\n')
      .filter((it) => it.includes(host));
    expect(reported).to.have.length(1);
    expect(service.stdout() + service.stderr()).not.to.include('pass@');
  }
});
