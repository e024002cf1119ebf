import { endAll, run, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { DIGEST } from '../configuration/broken-configurations.js';
import { silentServer } from '../silent-server.js';

describe('Starting with variables of other programs', function () {
  this.timeout(20_000);
  afterEach(endAll);

  const others = { POST: '1', COST: '2', DOC: 'a', HOSTS: 'b' };
  const env = { ...others, ACCESS_TOKEN_SHA256: DIGEST };

  it('logs each once, and `check` prints each', async () => {
    const service = await serve(env);
    expect(await service.stop()).to.equal(0);
    const warnings = [...service.stdout().matchAll(/"msg":"(\w+): ignored, /g)].map(([, it]) => it);
    expect(warnings).to.have.members(['POST', 'COST', 'DOC', 'HOSTS']);
    const check = run(['check'], env);
    expect(await check.ended).to.equal(0);
    for (const name of warnings) expect(check.stderr()).to.include(`warning: ${name}: ignored, `);
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
