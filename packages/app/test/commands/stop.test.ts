import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, endAll, run, serve, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';

const start = (env: Record<string, string> = {}) => serve({ ACCESS_TOKEN_SHA256, ...env });

function create(address: string, agent: Agent, id: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    request(`${address}/plants`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response));
    })
      .once('error', reject)
      .end(`{"id":${id},"name":"Monstera"}`);
  });
}

async function refusesConnections(address: string): Promise<void> {
  while (await fetch(`${address}/livez`).catch(() => undefined));
}

const HEAD = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

describe('Stopping', function () {
  this.timeout(20_000);
  afterEach(endAll);

  it('responds to every request of 20 busy connections, and then ends with 0', async () => {
    const { address, child, ended } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const statuses = new Map<number | undefined, number>();
    let nextId = 0;
    const loop = async (): Promise<string> => {
      try {
        for (;;) {
          nextId += 1;
          const { statusCode } = await create(address, agent, nextId);
          statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
          if (statuses.get(200) === 500) child.kill('SIGTERM');
        }
      } catch (error) {
        return String((error as NodeJS.ErrnoException).code);
      }
    };
    const ends = await Promise.all(Array.from({ length: 20 }, loop));
    expect(new Set(ends)).to.deep.equal(new Set(['ECONNREFUSED']));
    expect([...statuses.keys()]).to.deep.equal([200]);
    expect(statuses.get(200)).to.be.at.least(500);
    expect(await ended).to.equal(0);
  });

  it('waits for a request that is still arriving, and closes its connection', async () => {
    const { address, port, child, ended } = await start();
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.write(`${HEAD}Content-Length: 18\r\n\r\n{"id":1,`);
    await once(socket, 'connect');
    await fetch(`${address}/livez`);
    child.kill('SIGTERM');
    await refusesConnections(address);
    let response = '';
    socket.on('data', (text) => {
      response += text;
    });
    socket.write('"name":""}');
    await once(socket, 'end');
    expect(response).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response).to.match(/\r\nConnection: close\r\n/);
    expect(await ended).to.equal(0);
  });

  it('serves, but is not ready, during SHUTDOWN_DELAY_MS', async () => {
    const { address, child, printed, ended } = await start({ SHUTDOWN_DELAY_MS: '1000' });
    expect((await fetch(`${address}/readyz`)).status).to.equal(200);
    child.kill('SIGTERM');
    await printed(/stopping/);
    const readiness = await fetch(`${address}/readyz`);
    expect(readiness.status).to.equal(503);
    expect(await readiness.json()).to.include({ error: 5032 });
    expect((await fetch(`${address}/livez`)).status).to.equal(200);
    expect(await ended).to.equal(0);
  });

  it('cuts off open connections at the time limit', async () => {
    const { port, child, ended } = await start({ SHUTDOWN_TIMEOUT_MS: '300' });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).write(`${HEAD}Content-Length: 17\r\n\r\n{`);
    await once(socket, 'connect');
    await fetch(`http://127.0.0.1:${port}/livez`);
    child.kill('SIGTERM');
    await once(socket, 'close');
    expect(await ended).to.equal(0);
  });

  it('ends at once at the second signal', async () => {
    const { child, printed, ended } = await start({ SHUTDOWN_DELAY_MS: '60000' });
    child.kill('SIGTERM');
    await printed(/stopping/);
    child.kill('SIGINT');
    expect(await ended).to.equal(1);
  });

  it('is graceful, also when the signal comes during the start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
    const tokens = join(folder, 'tokens');
    execFileSync('mkfifo', [tokens]);
    const { child, stdout, ended } = run(['serve'], { PORT: '0', ACCESS_TOKENS_FILE: tokens });
    const reading = await open(tokens, 'w');
    child.kill('SIGTERM');
    await reading.write(`${ACCESS_TOKEN_SHA256} a-client\n`);
    await reading.close();
    expect(await ended).to.equal(0);
    expect(stdout()).to.include('"stopped"');
    await rm(folder, { recursive: true });
  });
});
