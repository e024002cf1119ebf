import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { command, endAll, serve, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';

const TOKEN = 'a-secret-token';
const ACCESS_TOKEN_SHA256 = sha256(TOKEN);

const start = (env: Record<string, string> = {}) =>
  serve({ MANAGEMENT_PORT: '0', ACCESS_TOKEN_SHA256, ...env });

async function send(address: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.write(bytes);
  const response = await text(socket);
  socket.destroy();
  return response;
}

function values(metrics: string, label: string): Set<string | undefined> {
  return new Set([...metrics.matchAll(new RegExp(`${label}="([^"]*)"`, 'g'))].map(([, it]) => it));
}

describe('The management listener', () => {
  afterEach(endAll);

  it('has health checks and metrics, which the API does not have', async () => {
    const { address, management } = await start();
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect((await fetch(`${management}${path}`)).status, path).to.equal(200);
    }
    expect((await fetch(`${address}/metrics`)).status).to.equal(404);
    expect((await fetch(`${management}/plants`, { method: 'POST' })).status).to.equal(404);
  });

  it('uses few label values, whatever clients send', async () => {
    const { address, management } = await start();
    const lines = Array.from({ length: 20 }, (_, at) => [
      `PURGE /plants/${at}`,
      `BREW${at} /pot`,
      `GET /${'x'.repeat(at + 1)}`,
      `GET /docs/${at}?q=${at}`,
      `DELETE /plants?${at}`,
    ]).flat();
    const requests = lines.map((it) =>
      send(address, `${it} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
    );
    await Promise.all(requests);
    const metrics = await (await fetch(`${management}/metrics`)).text();
    expect([...values(metrics, 'http_request_method')]).to.have.members([
      '_OTHER',
      'GET',
      'DELETE',
    ]);
    expect([...values(metrics, 'http_route')]).to.have.members(['']);
    expect([...values(metrics, 'http_response_status_code')]).to.have.members([
      '400',
      '404',
      '405',
    ]);
  });
});

describe('The log of the process', function () {
  this.timeout(20_000);
  afterEach(endAll);

  for (const [level, lines] of [
    ['info', 2],
    ['debug', 3],
  ] as const) {
    it(`has ${lines} lines for three requests, two of them refused, at level ${level}, and never a token`, async () => {
      const { address, child, ended, stdout, stderr } = await start({ LOG_LEVEL: level });
      for (const token of [TOKEN, `${TOKEN}-unknown`, '']) {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
        await fetch(`${address}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"a"}' });
      }
      child.kill('SIGTERM');
      expect(await ended).to.equal(0);
      expect(stdout().match(/"responded"/g) ?? []).to.have.length(lines);
      expect(stdout() + stderr()).not.to.include(TOKEN);
      expect(stdout() + stderr()).not.to.include(ACCESS_TOKEN_SHA256);
    });
  }

  /** Whether `script` of util-linux is installed, which provides a terminal without native code. */
  const hasScript = () => {
    try {
      return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
    } catch {
      return false;
    }
  };

  it('is readable for people on a terminal, where Ctrl-C stops the service', async function () {
    if (!hasScript()) {
      const lack = 'no `script` of util-linux in place of a terminal';
      if (process.env.CI) throw new Error(lack);
      process.stderr.write(`\n!!! THE SERVICE ON A TERMINAL IS NOT TESTED: ${lack} !!!\n\n`);
      this.skip();
    }
    const service = spawn(
      'script',
      ['-qec', `exec '${process.execPath}' '${command}'`, '/dev/null'],
      {
        env: {
          PATH: process.env.PATH,
          PORT: '0',
          NODE_ENV: 'production',
          STORAGE: 'memory',
          ACCESS_TOKEN_SHA256,
        },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    let printed = '';
    service.stdout.setEncoding('utf8').on('data', (part) => {
      if (!printed.includes('loses') && `${printed}${part}`.includes('loses')) {
        service.stdin.write('\x03');
      }
      printed += part;
    });
    const [code] = await once(service, 'close');
    expect(code).to.equal(0);
    expect(printed).to.match(/^Plant Store .* listens on /);
    expect(printed).to.match(/WARN.*: .*STORAGE: memory loses/);
    expect(printed).to.match(/INFO.*: .*stopping/);
  });
});
