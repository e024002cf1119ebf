import { rm, writeFile } from 'node:fs/promises';
import { AUDIENCE, OidcIssuer, SCOPE, signingKey } from '@plant-store/oidc-issuer';
import { createPlant, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { metricsOf, serveHere, stopAll } from '../support/in-process.js';
import { newFiles } from '../support/plant-files.js';

async function start(env: Record<string, string>) {
  const service = await serveHere({ LOG_LEVEL: 'debug' }, env);
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
    for (const part of [...token.split('.'), sha256(token)]) expect(log).not.to.include(part);
  }
  expect(log).not.to.match(/bearer\s|authorization\W*:/i);
}

describe('The tokens of the service', () => {
  const { write } = newFiles();
  afterEach(stopAll);

  it('are those of an issuer: the log has the clients and the reasons of refusals, but no token', async () => {
    const issuer = await OidcIssuer.start(await signingKey('first'));
    const { service, create, responded } = await start({
      ...{ JWT_ISSUER: issuer.url, JWT_AUDIENCE: AUDIENCE, JWT_SCOPE: SCOPE },
      MANAGEMENT_PORT: '0',
    });
    const [good, permission] = [await issuer.token(), await issuer.token('')];
    const signature = `${good.slice(0, -9)}AAAAAAAAA`;
    const expected: object[] = [];
    for (const [token, status, outcome] of [
      [good, 200, { client: 'nursery' }],
      [good, 200, { client: 'nursery' }],
      [signature, 401, { refusal: 'signature' }],
      [permission, 403, { client: 'nursery', refusal: 'permission' }],
    ] as const) {
      const response = await create(token);
      expect(response.status).to.equal(status);
      expected.push({ ...outcome, requestId: response.headers.get('X-Request-Id') });
    }
    expect(await metricsOf(service)).to.include.members([
      'plant_store_key_fetches_total{result="success"} 1',
      'plant_store_token_checks_total{cache="hit"} 1',
      'plant_store_tokens_refused_total{reason="signature"} 1',
    ]);
    const found = (await responded()).map(({ client, refusal, requestId }) => ({
      ...(client && { client }),
      ...(refusal && { refusal }),
      requestId,
    }));
    expect(found).to.deep.equal(expected);
    await issuer.stop();
  });

  it('are those of a file, which SIGHUP reads again: an invalid one changes nothing, and the log has only labels', async () => {
    const [OLD, NEW] = ['plantstore_the-old-token', 'plantstore_the-new-token'] as const;
    const [old, next] = [`${sha256(OLD)} nursery\n`, `${sha256(NEW)} nursery 2\n`];
    const file = write([old]);
    const { service, create, responded } = await start({ ACCESS_TOKENS_FILE: file });
    const statuses = async () => [(await create(OLD)).status, (await create(NEW)).status];
    expect(await statuses()).to.deep.equal([200, 401]);
    for (const [text, accepted, line] of [
      [`# rotating\n${old}${next}`, [200, 200], /"ACCESS_TOKENS_FILE","tokens":2,.* read again/],
      [next, [401, 200], /"ACCESS_TOKENS_FILE","tokens":1,.* read again/],
      [`# no digest\n${NEW} nursery\n`, [401, 200], /line 2.*SIGHUP: the new tokens are invalid/],
      [undefined, [401, 200], /ENOENT.*SIGHUP: the new tokens are invalid, the old ones stay/],
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
