import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ACCESS_TOKEN_SHA256, command, endAll, freePort, run } from '@plant-store/service-process';
import { expect } from 'chai';

async function responses(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return response;
  }
}

/** Runs a command with closed outputs, as `plant-store | true` does. */
function runUnread(args: readonly string[], env: Record<string, string> = {}) {
  const running = run(args, env);
  running.child.stdout?.destroy();
  running.child.stderr?.destroy();
  return running;
}

describe('A closed output', function () {
  this.timeout(20_000);
  afterEach(endAll);

  for (const word of ['--help', 'check']) {
    it(`does not make ${word} fail`, async () => {
      expect(await runUnread([word]).ended).to.equal(0);
    });
  }

  it('does not change the exit code of an unknown command', async () => {
    expect(await runUnread(['bake']).ended).to.equal(2);
  });

  for (const LOG_FORMAT of ['pretty', 'json']) {
    it(`does not end the service, with the ${LOG_FORMAT} log`, async () => {
      const PORT = await freePort();
      const service = runUnread(['serve'], { PORT, LOG_FORMAT, LOG_LEVEL: 'debug' });
      const url = `http://127.0.0.1:${PORT}/livez`;
      expect((await responses(url)).status).to.equal(200);
      service.child.kill('SIGHUP');
      expect((await responses(url)).status).to.equal(200);
      service.child.kill('SIGTERM');
      expect(await service.ended).to.equal(0);
    });
  }

  it('may be closed from the start', async () => {
    const line = 'exec "$0" "$1" check >&- 2>&-';
    const env = { PATH: process.env.PATH, ACCESS_TOKEN_SHA256 };
    await promisify(execFile)('bash', ['-c', line, process.execPath, command], { env });
  });
});
