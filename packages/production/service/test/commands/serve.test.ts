import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { freePort, silentServer } from '@plant-store/test-servers/loopback';
import { AUDIENCE, OidcIssuer, SCOPE, signingKey } from '@plant-store/test-servers/oidc-issuer';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  sha256,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { build } from '../../src/build.js';
import {
  Command,
  connectTo,
  metricsOf,
  result,
  type Service,
  serveHere,
  stopAll,
} from '../support/in-process.js';
import { newFiles } from '../support/plant-files.js';

const ADDRESS = String.raw`http:\/\/127\.0\.0\.1:[1-9][0-9]*`;

/** Starts the service without a token verifier. Resolves when it has printed the line that creates a plant. */
async function startDemo(env: Record<string, string> = {}) {
  const service = new Command([], { PORT: '0', LOG_FORMAT: 'pretty', ...env });
  const [curl, address, token] = await service.printed(
    new RegExp(`^curl -sS (${ADDRESS}).*Bearer (\\S+)'.*$`, 'm'),
  );
  return { service, curl, address, token };
}

describe('Starting the service', () => {
  afterEach(stopAll);

  it('without configuration prints the address, docs page, store, token and a curl command', async () => {
    const { service, address } = await startDemo();
    const lines = [
      `Plant Store .* listens on ${ADDRESS}`,
      String.raw`Docs: ${ADDRESS}\/docs`,
      String.raw`Store: memory \(plants are lost when the process ends\)`,
      String.raw`Token: \S{43,} \(for this run only; set ACCESS_TOKEN_SHA256 to use your own\)`,
      'Create a plant:',
      'curl .*',
    ];
    expect(service.out).to.match(new RegExp(`^${lines.join('\n')}\n$`));
    for (const path of ['/', '/docs']) {
      const page = await (await fetch(`${address}${path}`)).text();
      expect(page, path).to.match(/^<!doctype html>[\s\S]*<title>Plant Store/);
    }
  });

  it('prints JSON with the token and command if another program reads its output', async () => {
    const service = new Command([], { PORT: '0' });
    await service.printed(/"token".*\n/);
    expect(await service.stop()).to.equal(0);
    const lines = service.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      'listening',
      'generated a token for this run only; set ACCESS_TOKEN_SHA256 to use your own',
      'stopping',
      'stopped',
    ]);
    expect(lines[1].curl).to.match(
      new RegExp(`^curl -sS ${ADDRESS}\\/plants .*Bearer ${lines[1].token}'`),
    );
    expect(service.err).to.equal('');
  });

  it('prints only addresses that are served, and a new token each time', async () => {
    const env = { BASE_PATH: '/store', DOCS: 'off', MANAGEMENT_PORT: '0' };
    const [first, second] = await Promise.all([startDemo(env), startDemo()]);
    expect(first.curl).to.include(`${first.address}/store/plants `);
    expect(first.service.out).to.match(new RegExp(`^Metrics: ${ADDRESS}\\/metrics$`, 'm'));
    expect(first.service.out).not.to.include('Docs:');
    for (const path of ['/', '/store/docs']) {
      expect((await fetch(`${first.address}${path}`)).status).to.equal(404);
    }
    expect(first.token).not.to.equal(second.token);
  });

  it('prints neither a token nor a command if a token is configured', async () => {
    const settings = { NODE_ENV: 'production', STORAGE: 'memory', SHUTDOWN_TIMEOUT_MS: '1000' };
    const env = { PORT: '0', LOG_FORMAT: 'pretty', ACCESS_TOKEN_SHA256, ...settings };
    const service = new Command([], env);
    await service.printed(/WARN.*: .*SHUTDOWN_TIMEOUT_MS: a shutdown may cut off requests/);
    expect(service.out).to.match(/^Plant Store .*\nStore: memory .*\n.*WARN/);
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/INFO.*: .*stopping/);
  });

  it('reports a taken port in one line, closes everything, and exits with 1', async () => {
    const { address } = await serveHere();
    const [taken, free] = [new URL(address).port, `${await freePort()}`];
    for (const [prefix, ports] of [
      ['', { PORT: taken, MANAGEMENT_PORT: free }],
      ['MANAGEMENT_', { PORT: free, MANAGEMENT_PORT: taken }],
    ] as const) {
      const { code, err } = await result([], { MONGODB_URI: 'mongodb://127.0.0.1:1', ...ports });
      expect(code).to.equal(1);
      expect(err).to.equal(
        `plant-store: ${prefix}PORT: port ${taken} on 127.0.0.1 is taken (EADDRINUSE). Stop the process that uses it, or set ${prefix}PORT to a free port\n`,
      );
      await rejects(fetch(`http://127.0.0.1:${free}/livez`));
    }
  });

  it('names HOST if it is not an address of this machine', async () => {
    for (const HOST of ['192.0.2.1', 'no-such-host.invalid']) {
      const { code, err } = await result([], { HOST, PORT: '0' });
      expect(code).to.equal(1);
      expect(err).to.match(
        /^plant-store: HOST: .* is not an address of this machine \(E\w+\)\. Set HOST to /,
      );
    }
  });

  it('succeeds, and logs one line, if the issuer refuses connections or hangs', async () => {
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
    const logged = Promise.all(['127.0.0.1:1', silent.host].map(expectLogged));
    await logged.finally(() => silent.close());
  });

  it('names the URL of an issuer that does not respond', async () => {
    const silent = await silentServer();
    const url = `http://${silent.host}/keys`;
    const issuer = {
      JWT_ISSUER: 'https://login.example.com',
      JWT_AUDIENCE: 'plants',
      JWKS_URL: url,
      ACCESS_TOKEN: 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl',
    };
    const problem = `JWT_ISSUER, JWKS_URL: the issuer's keys cannot be fetched (${url}: no response within 1500 ms)`;
    const store = { NODE_ENV: 'test', STORAGE: 'memory' };
    const [checked, exported] = await Promise.all(
      ['check', 'export'].map((command) => result([command], { ...store, ...issuer })),
    ).finally(() => silent.close());
    expect(checked?.code).to.equal(1);
    expect(checked?.out).to.include(`token verifier (jwt): not ready: ${problem}\n`);
    expect(exported).to.include({ code: 1, err: `plant-store: ${problem}\n` });
  });
});

const HEAD = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;

/** Sends the beginning of a request. Resolves when the service has read it. */
async function sendPart(service: Service, request: string) {
  const socket = connectTo(service, request);
  await once(socket, 'connect');
  await fetch(`${service.address}/livez`);
  return socket;
}

/** The defaults of the limits are longer than the time limit of the tests. */
describe('Stopping', () => {
  afterEach(stopAll);

  it('waits for a request that is still arriving', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0' });
    const socket = await sendPart(service, `${HEAD}Content-Length: 18\r\n\r\n{"id":1,`);
    service.emit('SIGTERM');
    // Until the service refuses connections.
    while (await fetch(`${service.address}/livez`).catch(() => undefined));
    expect((await fetch(`${service.management}/livez`)).status).to.equal(200);
    socket.write('"name":""}');
    const response = (await socket.toArray()).join('');
    expect(response).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response).to.match(/\r\nConnection: close\r\n/);
    expect(await service.ended).to.equal(0);
  });

  it('cuts off open connections at the time limit', async () => {
    // Its request would otherwise time out.
    const limits = { SHUTDOWN_TIMEOUT_MS: '300', REQUEST_TIMEOUT_MS: '600000' };
    const service = await serveHere(limits);
    const socket = await sendPart(service, `${HEAD}Content-Length: 17\r\n\r\n{`);
    const ended = service.stop();
    await once(socket.resume(), 'close');
    expect(await ended).to.equal(0);
  });

  it('waits until the service has started', async () => {
    const env = { PORT: '0', LOG_FORMAT: 'json', ACCESS_TOKEN_SHA256 };
    const service = new Command(['serve'], env);
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/"listening"[\s\S]*"stopping"[\s\S]*"stopped"/);
  });

  it('fails /readyz with 503 and keeps serving during SHUTDOWN_DELAY_MS', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0', SHUTDOWN_DELAY_MS: '5000' });
    const ended = service.stop();
    for (const listener of [service.address, service.management]) {
      const probe = await fetch(`${listener}/readyz`);
      expect([probe.status, JSON.parse(await probe.text()).error]).to.deep.equal([503, 5032]);
    }
    expect((await createPlant(service.address, 1)).status).to.equal(200);
    expect(await metricsOf(service)).to.include.members([
      'plant_store_ready 0',
      'plant_store_overloaded_requests_total 0',
    ]);
    expect(await ended).to.equal(0);
  });

  it('treats a Ctrl-C that npm passes on as one signal', async () => {
    const service = await serveHere();
    for (const _ of ['terminal', 'npm']) service.emit('SIGINT');
    expect(await service.ended).to.equal(0);
  });
});

describe('A SIGHUP', () => {
  const { write } = newFiles();
  afterEach(stopAll);

  it('stops a service without a tokens file, even during the start', async () => {
    const service = new Command([], { PORT: '0', LOG_FORMAT: 'json', ACCESS_TOKEN_SHA256 });
    for (const _ of ['kernel', 'shell']) service.emit('SIGHUP');
    expect(await service.ended).to.equal(0);
    expect(service.out).to.match(/"listening"[\s\S]*"signal":"SIGHUP","msg":"stopping"/);
    expect(service.err).to.equal('');
  });

  it('makes a service with a tokens file read it again, even if it arrives during the start', async () => {
    const ACCESS_TOKENS_FILE = write([`${ACCESS_TOKEN_SHA256} nursery\n`]);
    const service = new Command([], { PORT: '0', ACCESS_TOKENS_FILE });
    service.emit('SIGHUP');
    await service.printed(/"listening"/);
    expect(await service.stop()).to.equal(0);
    expect(service.out).to.match(/"tokens":1,"msg":"SIGHUP: the tokens were read again"/);
  });
});

describe('The management listener', () => {
  afterEach(stopAll);

  it('serves health checks and metrics, and names the same build everywhere', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0' });
    const { address, management, out } = service;
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect((await fetch(`${management}${path}`)).status, path).to.equal(200);
    }
    expect((await fetch(`${address}/metrics`)).status).to.equal(404);
    expect((await fetch(`${management}/plants`, { method: 'POST' })).status).to.equal(404);
    const [line = ''] = /^.*"listening".*$/m.exec(out) ?? [];
    expect(JSON.parse(line)).to.include(build);
    const { info } = JSON.parse(await (await fetch(`${address}/openapi.json`)).text());
    expect(info['x-build']).to.deep.equal(build);
    const label = `plant_store_build_info{version="${build.version}",commit="`;
    expect((await metricsOf(service)).join('\n')).to.include(label);
  });

  it('responds to invalid HTTP in the error format of the service, and neither logs nor counts it', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0' });
    const { port } = new URL(`${service.management}`);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    socket.write('GARBAGE\r\n\r\n');
    expect((await socket.toArray()).join('')).to.match(/^HTTP\/1.1 400 [\s\S]*"error":4000,/);
    const counted = (await metricsOf(service)).filter((it) => /^http_.*_count/.test(it));
    expect([counted, service.out.match(/responded/)]).to.deep.equal([[], null]);
  });

  it('counts the connections that it closes because of MAX_CONNECTIONS', async () => {
    const service = await serveHere({ MANAGEMENT_PORT: '0', MAX_CONNECTIONS: '1' });
    const kept = connectTo(service, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(kept, 'data');
    const refused = connectTo(service, '');
    await once(refused, 'close');
    expect(refused.bytesRead).to.equal(0);
    expect(await metricsOf(service)).to.include('plant_store_connections_refused_total 1');
    kept.destroy();
  });
});

async function startVerifying(env: Record<string, string>) {
  const service = await serveHere({ LOG_LEVEL: 'debug' }, env);
  const sent: string[] = [];
  const create = (token: string) =>
    createPlant(service.address, sent.push(token), 'Monstera', token);
  /** Stops the service. Resolves with the log entries about responses. The log contains no part or digest of a token. */
  const responded = async () => {
    expect(await service.stop()).to.equal(0);
    const log = service.out + service.err;
    for (const token of sent) {
      for (const part of [...token.split('.'), sha256(token)]) expect(log).not.to.include(part);
    }
    expect(log).not.to.match(/bearer\s|authorization\W*:/i);
    const lines = service.out.split('\n').filter((line) => line.includes('"responded"'));
    return lines.map((line) => JSON.parse(line));
  };
  return { service, create, responded };
}

describe('The tokens of the service', () => {
  const { write } = newFiles();
  let issuer: OidcIssuer | undefined;

  const startIssuer = async () => (issuer = await OidcIssuer.start(await signingKey('first')));

  afterEach(async () => {
    await stopAll();
    await issuer?.stop();
    issuer = undefined;
  });

  it('can come from an issuer, and the log shows each client or reason for refusal', async () => {
    const issuer = await startIssuer();
    const { service, create, responded } = await startVerifying({
      JWT_ISSUER: issuer.url,
      JWT_AUDIENCE: AUDIENCE,
      JWT_SCOPE: SCOPE,
      JWT_NAME_CLAIM: 'iss',
      MANAGEMENT_PORT: '0',
    });
    const [good, permission] = [await issuer.token(), await issuer.token('')];
    const signature = `${good.slice(0, -9)}AAAAAAAAA`;
    const expected: object[] = [];
    for (const [token, status, outcome] of [
      [good, 200, { client: issuer.url }],
      [good, 200, { client: issuer.url }],
      [signature, 401, { refusal: 'the signature does not match' }],
      [
        permission,
        403,
        { client: issuer.url, refusal: 'the token lacks the permission to create plants' },
      ],
    ] as const) {
      const response = await create(token);
      expect(response.status).to.equal(status);
      expected.push({ ...outcome, requestId: response.headers.get('X-Request-Id') });
    }
    expect(await metricsOf(service)).to.include.members([
      'plant_store_key_fetches_total{result="success"} 1',
      'plant_store_token_checks_total{cache="hit"} 1',
      'plant_store_tokens_refused_total{reason="the signature does not match"} 1',
    ]);
    const found = (await responded()).map(({ client, refusal, requestId }) => ({
      ...(client && { client }),
      ...(refusal && { refusal }),
      requestId,
    }));
    expect(found).to.deep.equal(expected);
    expect(new Set(found.map(({ requestId }) => requestId))).to.have.property('size', 4);
  });

  it('permit an export only with JWT_READ_SCOPE', async () => {
    const issuer = await startIssuer();
    const env = {
      NODE_ENV: 'test',
      STORAGE: 'memory',
      JWT_ISSUER: issuer.url,
      JWT_AUDIENCE: AUDIENCE,
      ACCESS_TOKEN: await issuer.token(),
    };
    const read = (scope: string) => result(['export'], { ...env, JWT_READ_SCOPE: scope });
    expect(await read(SCOPE)).to.include({ code: 0 });
    const { code, err } = await read('plants:read');
    expect(code).to.equal(2);
    expect(err).to.include('the token lacks the permission to read plants');
  });

  it('are read again on SIGHUP, and stay the same if the file is invalid', async () => {
    const [OLD, NEW] = ['plantstore_the-old-token', 'plantstore_the-new-token'] as const;
    const [old, next] = [`${sha256(OLD)} nursery\n`, `${sha256(NEW)} nursery 2\n`];
    const file = write([old]);
    const { service, create, responded } = await startVerifying({ ACCESS_TOKENS_FILE: file });
    const statuses = async () => [(await create(OLD)).status, (await create(NEW)).status];
    expect(await statuses()).to.deep.equal([200, 401]);
    for (const [text, accepted, line] of [
      [`# rotating\n${old}${next}`, [200, 200], /"ACCESS_TOKENS_FILE","tokens":2,.* read again/],
      [next, [401, 200], /"ACCESS_TOKENS_FILE","tokens":1,.* read again/],
      [`# no digest\n${NEW} nursery\n`, [401, 200], /line 2.*SIGHUP: the new tokens are invalid/],
      [
        undefined,
        [401, 200],
        /ENOENT.*SIGHUP: the new tokens are invalid; still using the old ones/,
      ],
    ] as const) {
      await (text === undefined ? rm(file) : writeFile(file, text));
      service.emit('SIGHUP');
      await service.printed(line);
      expect(await statuses()).to.deep.equal(accepted);
    }
    const clients = (await responded()).map(({ client }) => client ?? '-');
    expect(clients.join()).to.equal(
      'nursery,-,nursery,nursery 2,-,nursery 2,-,nursery 2,-,nursery 2',
    );
  });
});
