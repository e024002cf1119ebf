import { rm, writeFile } from 'node:fs/promises';
import { AUDIENCE, OidcIssuer, SCOPE, signingKey } from '@plant-store/oidc-issuer';
import { createPlant, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { serveHere, stopAll } from '../support/in-process.js';
import { PlantFiles } from '../support/plant-files.js';

async function start(env: Record<string, string>) {
  const service = await serveHere({ LOG_LEVEL: 'debug', ...env });
  const sent: string[] = [];
  const create = (token: string) =>
    createPlant(service.address, sent.push(token), 'Monstera', token);
  /** Stops the service. Resolves with the entries of the log about responses, which has no token. */
  const responded = async () => {
    expect(await service.stop()).to.equal(0);
    expectNoToken(service.out + service.err, sent);
    const lines = service.out.split('\n').filter((line) => line.includes('"responded"'));
    return lines.map((line) => JSON.parse(line));
  };
  return { service, create, responded };
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

describe('The service with signed tokens', () => {
  afterEach(stopAll);

  it('accepts those of the issuer, and logs names of clients and reasons of refusals but no token', async () => {
    const key = await signingKey('first');
    const issuer = await OidcIssuer.start(key);
    const now = Math.floor(Date.now() / 1000);
    const token = async (claims: JWTPayload, signer = key) =>
      new SignJWT({ iss: issuer.url, sub: 'nursery', aud: AUDIENCE, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt' })
        .sign(await importJWK(signer, 'RS256'));
    const bad = {
      expired: await token({ exp: now - 3600 }),
      signature: await token({}, await signingKey('first')),
      permission: await token({ scope: 'another' }),
    };
    const { service, create, responded } = await start({
      ...{ JWT_ISSUER: issuer.url, JWT_AUDIENCE: AUDIENCE, JWT_SCOPE: SCOPE },
      MANAGEMENT_PORT: '0',
    });
    const good = await issuer.token();
    for (const id of [1, 2]) expect((await create(good)).status, `${id}`).to.equal(200);
    const ids: unknown[] = [];
    const bodies = new Set<string>();
    for (const one of Object.values(bad)) {
      const response = await create(one);
      expect(response.status).to.equal(one === bad.permission ? 403 : 401);
      ids.push(response.headers.get('X-Request-Id'));
      bodies.add(await response.text());
    }
    expect(bodies, 'the same for each invalid token').to.have.property('size', 2);
    const metrics = await (await fetch(`${service.management}/metrics`)).text();
    for (const [series, value] of [
      ['plant_store_key_fetches_total{result="success"}', 1],
      ['plant_store_token_checks_total{cache="hit"}', 1],
      ['plant_store_tokens_refused_total{reason="expired"}', 1],
    ]) {
      expect(metrics.split('\n')).to.include(`${series} ${value}`);
    }
    const [first, second, ...refused] = await responded();
    expect([first.client, second.client]).to.deep.equal(['nursery', 'nursery']);
    expect(refused.map(({ refusal, requestId }) => [refusal, requestId])).to.deep.equal(
      Object.keys(bad).map((reason, index) => [reason, ids[index]]),
    );
    await issuer.stop();
  });
});

describe('The service with a file of tokens', () => {
  const [OLD, NEW] = ['plantstore_the-old-token', 'plantstore_the-new-token'] as const;
  const files = new PlantFiles();
  afterEach(stopAll);
  after(() => files.remove());

  it('reads the file again on SIGHUP, keeps its tokens while the file is invalid, and logs only the labels of clients', async () => {
    const file = await files.write([`${sha256(OLD)} nursery\n`]);
    const { service, create, responded } = await start({ ACCESS_TOKENS_FILE: file });
    const statuses = async () => [(await create(OLD)).status, (await create(NEW)).status];
    expect(await statuses()).to.deep.equal([200, 401]);
    await writeFile(file, `# rotating\n${sha256(OLD)} nursery\n${sha256(NEW)} nursery 2\n`);
    service.emit('SIGHUP');
    await service.printed(/"ACCESS_TOKENS_FILE","tokens":2,.*SIGHUP: the tokens were read again/);
    expect(await statuses()).to.deep.equal([200, 200]);
    await writeFile(file, `${sha256(NEW)} nursery 2\n`);
    service.emit('SIGHUP');
    await service.printed(/"ACCESS_TOKENS_FILE","tokens":1,.*SIGHUP: the tokens were read again/);
    expect(await statuses()).to.deep.equal([401, 200]);
    await writeFile(file, `# a token instead of its digest\n${NEW} nursery\n`);
    service.emit('SIGHUP');
    await service.printed(/line 2.*SIGHUP: the new tokens are invalid, the old ones stay/);
    await rm(file);
    service.emit('SIGHUP');
    await service.printed(/ENOENT.*SIGHUP: the new tokens are invalid, the old ones stay/);
    expect(await statuses()).to.deep.equal([401, 200]);
    const clients = (await responded()).map(({ client }) => client);
    const labels = ['nursery', undefined, 'nursery', 'nursery 2', undefined, 'nursery 2'];
    expect(clients).to.deep.equal([...labels, undefined, 'nursery 2']);
  });
});
