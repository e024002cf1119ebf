import { endAll, freePort, run } from '@plant-store/service-process';
import { expect } from 'chai';
import { urlOf } from '../../src/commands/address.js';

/** Starts a service and resolves with its port. */
async function portOf(env: Record<string, string> = {}): Promise<string> {
  const service = run(['serve'], { PORT: '0', ...env });
  const [, port = ''] = await service.printed(/listens on http:\/\/127\.0\.0\.1:([0-9]+)/);
  return port;
}

describe('plant-store ready', function () {
  this.timeout(20_000);
  afterEach(endAll);

  it('ends with 0 when the service is ready', async () => {
    const command = run(['ready'], { PORT: await portOf() });
    expect(await command.ended).to.equal(0);
    expect(command.stdout()).to.equal('{"status":"ready"}\n');
  });

  it('ends with 1 and the reason when the service is not ready', async () => {
    const env = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
    const command = run(['ready'], { ...env, PORT: await portOf(env) });
    expect(await command.ended).to.equal(1);
    expect(JSON.parse(command.stdout())).to.include({ error: 5030 });
  });

  it('ends with 1 when no service listens', async () => {
    const PORT = await freePort();
    const command = run(['ready'], { PORT });
    expect(await command.ended).to.equal(1);
    expect(command.stderr()).to.match(
      new RegExp(
        `^plant-store: no response from 127\\.0\\.0\\.1:${PORT} \\(connect ECONNREFUSED 127.*\\)\n$`,
      ),
    );
  });

  it('connects to loopback when the service listens on every address', async () => {
    const command = run(['ready'], { HOST: '0.0.0.0', PORT: await portOf() });
    expect(await command.ended).to.equal(0);
    expect(urlOf('0.0.0.0', 3000)).to.equal('http://127.0.0.1:3000');
    expect(urlOf('::', 3000)).to.equal('http://[::1]:3000');
    expect(urlOf('fd00::1', 3000)).to.equal('http://[fd00::1]:3000');
  });
});
