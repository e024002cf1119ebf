import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUDIENCE, LoopbackServer, OidcIssuer, SCOPE, signingKey } from '@plant-store/oidc-issuer';
import { endAll, serve, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';

let lastId = 0;

async function start(env: Record<string, string>) {
  const service = await serve({ LOG_LEVEL: 'debug', ...env });
  const sent: string[] = [];
  /** Creates a plant with this token, records the token, and resolves with the response. */
  const create = async (token: string) => {
    sent.push(token);
    lastId += 1;
    const response = await fetch(`${service.address}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: `{"id":${lastId},"name":"Monstera"}`,
    });
    return { status: response.status, body: await response.text(), headers: response.headers };
  };
  const stop = async () => {
    expect(await service.stop()).to.equal(0);
    return service.stdout() + service.stderr();
  };
  return { ...service, create, sent, stop };
}

/** Returns the names of clients in the log, in the order of their requests. */
function clientsIn(log: string): unknown[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"responded"'))
    .map((line) => JSON.parse(line).client);
}

/** Returns the reasons of refused tokens in the log, and the ids of their requests. */
function refusalsIn(log: string): unknown[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"refusal"'))
    .map((line) => JSON.parse(line))
    .map(({ refusal, requestId }) => [refusal, requestId]);
}

/** Checks that the log has no token, no long part of one, and no digest of one. */
function expectNoToken(log: string, tokens: readonly string[]): void {
  for (const token of tokens) {
    for (const part of [...token.split('.'), sha256(token)].filter((it) => it !== '')) {
      expect(log).not.to.include(part);
    }
  }
  expect(log).not.to.match(/bearer\s|authorization\W*:/i);
}

describe('The service with signed tokens', function () {
  this.timeout(30_000);

  let key: JWK;
  let provider: OidcIssuer;
  let env: Record<string, string>;

  before(async () => {
    key = await signingKey('first');
    provider = await OidcIssuer.start(key);
    env = { JWT_ISSUER: provider.url, JWT_AUDIENCE: AUDIENCE, JWT_SCOPE: SCOPE };
  });
  afterEach(endAll);
  after(() => provider.stop());

  /** Resolves with a token of the provider, with these claims and this key. */
  async function token(claims: JWTPayload = {}, signer = key): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = { sub: 'nursery', aud: AUDIENCE, scope: SCOPE, iat: now, exp: now + 300 };
    return new SignJWT({ iss: provider.url, ...usual, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt' })
      .sign(await importJWK(signer, 'RS256'));
  }

  async function unsigned(): Promise<string> {
    const [, payload] = (await token()).split('.');
    return `${btoa('{"alg":"none","typ":"at+jwt"}').replaceAll('=', '')}.${payload}.`;
  }

  it('accepts the tokens of the provider, and logs only the names of clients', async () => {
    const service = await start(env);
    expect((await service.create(await provider.token())).status).to.equal(200);
    expect((await service.create(await token())).status).to.equal(200);
    const log = await service.stop();
    expect(clientsIn(log)).to.deep.equal(['nursery', 'nursery']);
    expectNoToken(log, service.sent);
  });

  it('refuses every other token with the same response, and logs the reason but not the token', async () => {
    const service = await start(env);
    const bad = {
      expired: await token({ exp: Math.floor(Date.now() / 1000) - 3600 }),
      audience: await token({ aud: 'https://animals.example' }),
      issuer: await token({ iss: 'https://login.example' }),
      signature: await token({}, await signingKey('first')),
      algorithm: `${await unsigned()}c2lnbmF0dXJl`,
      malformed: await unsigned(),
    };
    const responses: Awaited<ReturnType<typeof service.create>>[] = [];
    for (const one of Object.values(bad)) responses.push(await service.create(one));
    expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([401]));
    expect(new Set(responses.map(({ body }) => body)).size).to.equal(1);
    expect(JSON.parse(responses[0]?.body ?? '')).to.include({ error: 4011 });
    const log = await service.stop();
    expect(refusalsIn(log)).to.deep.equal(
      Object.keys(bad).map((reason, index) => [
        reason,
        responses[index]?.headers.get('x-request-id'),
      ]),
    );
    expect(clientsIn(log)).to.deep.equal(responses.map(() => undefined));
    expectNoToken(log, service.sent);
  });

  it('responds 4030 to a token without the scope, and 200 when no scope is configured', async () => {
    const strict = await start(env);
    const { body, headers } = await strict.create(await provider.token(''));
    expect(JSON.parse(body)).to.include({ error: 4030 });
    expect(headers.get('www-authenticate')).to.include('error="insufficient_scope"');
    const log = await strict.stop();
    expect(refusalsIn(log)).to.deep.equal([['permission', headers.get('x-request-id')]]);
    expectNoToken(log, strict.sent);
    const { JWT_SCOPE, ...withoutScope } = env;
    const open = await start(withoutScope);
    expect((await open.create(await provider.token(''))).status).to.equal(200);
    await open.stop();
  });

  it('responds 5030 until the provider was reached, and logs the reason', async () => {
    const closed = new LoopbackServer();
    await closed.listen();
    await closed.stop();
    const issuer = closed.url;
    const service = await start({ ...env, JWT_ISSUER: issuer });
    for (const one of [await token({ iss: issuer }), await token({}, await signingKey('second'))]) {
      const { status, body, headers } = await service.create(one);
      expect([status, JSON.parse(body).error]).to.deep.equal([503, 5030]);
      expect(headers.get('retry-after')).to.match(/^[1-9][0-9]*$/);
    }
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(503);
    const log = await service.stop();
    expect(log).to.match(
      /JWT_ISSUER, JWKS_URL: the issuer's keys cannot be fetched \(.*ECONNREFUSED/,
    );
    expectNoToken(log, service.sent);
  });
});

describe('The service with a file of tokens', () => {
  const [OLD, NEW] = ['plantstore_the-old-token', 'plantstore_the-new-token'];
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
    file = join(folder, 'tokens.txt');
  });
  afterEach(async () => {
    endAll();
    await rm(folder, { recursive: true });
  });

  it('reads the file again on SIGHUP, and logs only the labels of clients', async () => {
    await writeFile(file, `${sha256(OLD)} nursery\n`);
    const service = await start({ ACCESS_TOKENS_FILE: file });
    const statuses = async () => [
      (await service.create(OLD)).status,
      (await service.create(NEW)).status,
    ];
    expect(await statuses()).to.deep.equal([200, 401]);
    await writeFile(file, `# rotating\n${sha256(OLD)} nursery\n${sha256(NEW)} nursery 2\n`);
    service.child.kill('SIGHUP');
    await service.printed(/"ACCESS_TOKENS_FILE","tokens":2,.*SIGHUP: the tokens were read again/);
    expect(await statuses()).to.deep.equal([200, 200]);
    await writeFile(file, `${sha256(NEW)} nursery 2\n`);
    service.child.kill('SIGHUP');
    await service.printed(/"ACCESS_TOKENS_FILE","tokens":1,.*SIGHUP: the tokens were read again/);
    expect(await statuses()).to.deep.equal([401, 200]);
    const log = await service.stop();
    const clients = ['nursery', undefined, 'nursery', 'nursery 2', undefined, 'nursery 2'];
    expect(clientsIn(log)).to.deep.equal(clients);
    expectNoToken(log, [OLD, NEW]);
  });

  it('keeps its tokens when the new file is invalid, and logs the number of the line', async () => {
    await writeFile(file, `${sha256(OLD)} nursery\n`);
    const service = await start({ ACCESS_TOKENS_FILE: file });
    await writeFile(file, `# a token instead of its digest\n${NEW} nursery\n`);
    service.child.kill('SIGHUP');
    await service.printed(/line 2.*SIGHUP: the new tokens are invalid, the old ones stay/);
    await rm(file);
    service.child.kill('SIGHUP');
    await service.printed(/ENOENT.*SIGHUP: the new tokens are invalid, the old ones stay/);
    expect((await service.create(OLD)).status).to.equal(200);
    expect((await service.create(NEW)).status).to.equal(401);
    expectNoToken(await service.stop(), [OLD, NEW]);
  });
});
