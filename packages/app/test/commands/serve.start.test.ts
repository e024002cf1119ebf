import { rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePort, silentServer } from '@plant-store/faulty-network';
import { ACCESS_TOKEN_SHA256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { Command, result, serveHere, stopAll } from '../support/in-process.js';

const ADDRESS = String.raw`http:\/\/127\.0\.0\.1:[1-9][0-9]*`;

/** Starts the service without a token verifier. Resolves when it has printed the line that creates a plant. */
async function startDemo(env: Record<string, string> = {}) {
  const service = new Command([], { PORT: '0', ...env });
  const [curl, address, token] = await service.printed(
    new RegExp(`^curl -sS (${ADDRESS}).*Bearer (\\S+)'.*$`, 'm'),
  );
  const created = async () => (await promisify(execFile)('bash', ['-c', curl])).stdout;
  return { service, address, token, created };
}

describe('The start of the service', () => {
  afterEach(stopAll);

  it('without configuration prints address, docs page, storage, token and a line that creates a plant', async () => {
    const { service, address, created } = await startDemo();
    const lines = [
      `Plant Store .* listens on ${ADDRESS}`,
      String.raw`Docs: ${ADDRESS}\/docs`,
      String.raw`Storage: memory \(plants are lost when the process ends\)`,
      String.raw`Token: \S{43,} \(for this run only; set ACCESS_TOKEN_SHA256 to use your own\)`,
      'Create a plant:',
      'curl .*',
    ];
    expect(service.out).to.match(new RegExp(`^${lines.join('\n')}\n$`));
    expect(await created()).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
    expect((await fetch(`${address}/docs`)).status).to.equal(200);
  });

  it('has BASE_PATH, the metrics, no docs if they are off, and a new token each time, in what it prints', async () => {
    const env = { BASE_PATH: '/store', DOCS: 'off', MANAGEMENT_PORT: '0' };
    const [first, second] = await Promise.all([startDemo(env), startDemo()]);
    expect(await first.created()).to.include('Monstera');
    expect(first.service.out).to.match(new RegExp(`^Metrics: ${ADDRESS}\\/metrics$`, 'm'));
    expect(first.service.out).not.to.include('Docs:');
    expect((await fetch(`${first.address}/store/docs`)).status).to.equal(404);
    expect(first.token).not.to.equal(second.token);
  });

  it('with a token prints neither a token nor a line that creates a plant, and on a terminal advice for people', async () => {
    const settings = { NODE_ENV: 'production', STORAGE: 'memory', SHUTDOWN_TIMEOUT_MS: '1000' };
    const env = { PORT: '0', ACCESS_TOKEN_SHA256, ...settings };
    const service = new Command([], env, true);
    await service.printed(/WARN.*: .*STORAGE: memory loses/);
    expect(service.out).to.match(/^Plant Store .*\nStorage: memory .*\n.*WARN/);
    expect(service.out).to.match(/WARN.*: .*SHUTDOWN_TIMEOUT_MS: a shutdown can cut off a request/);
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/INFO.*: .*stopping/);
  });

  it('reports in one line that a port is taken, closes what is open, and ends with 1', async () => {
    const { address } = await serveHere();
    const [taken, free] = [new URL(address).port, `${await freePort()}`];
    for (const [prefix, ports] of [
      ['', { PORT: taken, MANAGEMENT_PORT: free }],
      ['MANAGEMENT_', { PORT: free, MANAGEMENT_PORT: taken }],
    ] as const) {
      const { code, err } = await result([], { MONGODB_URI: 'mongodb://127.0.0.1:1', ...ports });
      expect(code).to.equal(1);
      const problem = `${prefix}HOST, ${prefix}PORT: cannot listen on .*EADDRINUSE.*`;
      expect(err).to.match(new RegExp(`^plant-store: ${problem}\n$`));
      await rejects(fetch(`http://127.0.0.1:${free}/livez`));
    }
  });

  it('logs a variable that resembles one of the service, and `check` ends with 2', async () => {
    const env = { HOSTS: 'b', ACCESS_TOKEN_SHA256 };
    const service = await serveHere(env);
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/"level":"warn",.*"msg":"HOSTS: ignored, /);
    const { code, err } = await result(['check'], env);
    expect(code).to.equal(2);
    expect(err).to.match(/^ {2}HOSTS: ignored, /m);
  });

  it('succeeds, and logs one line that the host of the issuer refuses connections or does not respond', async () => {
    const silent = await silentServer();
    const expectLogged = async (host: string) => {
      const issuer = { JWT_ISSUER: `http://${host}/realm`, JWT_AUDIENCE: 'plants' };
      const service = await serveHere({}, issuer);
      const [line] = await service.printed(new RegExp(`^.*JWT_ISSUER.*${host}.*\n`, 'm'));
      expect(JSON.parse(line).level).to.equal('warn');
      expect((await fetch(`${service.address}/readyz`)).status).to.equal(503);
      expect(await service.stop()).to.equal(0);
      expect(service.out.split('\n').filter((it) => it.includes(host))).to.have.length(1);
    };
    await Promise.all(['127.0.0.1:1', silent.host].map(expectLogged));
    await silent.close();
  });
});
