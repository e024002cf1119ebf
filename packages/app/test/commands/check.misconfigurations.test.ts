import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:tls';
import { CertificateFolder } from '@plant-store/certificates';
import { silentServer } from '@plant-store/faulty-network';
import { MongodServer, needsMongod, SecureMongod } from '@plant-store/mongod';
import { freePort } from '@plant-store/programs';
import { ACCESS_TOKEN_SHA256, createPlant } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { Command, serveHere, stopAll } from '../support/in-process.js';

/** One that is found before the start, and some after it: `serve` reports them too. */
const ALSO_SERVED = [
  'a `tlsCAFile` without a certificate',
  'an expired server certificate',
  'a user without permissions',
];

/** Why the database is not reachable, by misconfiguration. */
const NOT_REACHABLE = {
  'no TLS, where the server requires it':
    'the server closed the connection: it may require tls=true',
  'TLS, where the server has none': 'the TLS handshake failed: the server may not use TLS',
  'an untrusted server certificate':
    'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority',
  'an expired server certificate': 'the certificate of the server has expired',
  'a host name that the server certificate does not name':
    'the certificate of the server is for another host name',
  'no client certificate, where the server requires one':
    'the server closed the connection: it may require a client certificate in tlsCertificateKeyFile',
  'an untrusted client certificate':
    'the server closed the connection: it may not trust the certificate in tlsCertificateKeyFile',
  'an expired client certificate': 'the certificate in tlsCertificateKeyFile has expired',
  'no server at this port': 'connect ECONNREFUSED <host>',
  'a host that does not respond': 'the server does not respond',
};

/** Why the keys of the issuer cannot be fetched. */
const NO_KEYS = {
  'an issuer whose certificate is not trusted':
    'the certificate of the server is not trusted: NODE_EXTRA_CA_CERTS must name the certificate of its authority',
  'no issuer at this port': 'connect ECONNREFUSED <host>',
};

const DATABASE = 'MONGODB_URI: the database at <host>';
/** The password of every user, as it is and as a connection string has it. */
const PASSWORD = /a( |%20)pass/;

/** The lines that name their fix, by misconfiguration. */
const SELF_EXPLANATORY = {
  'X.509 without a client certificate': `${DATABASE} refuses the credentials (authMechanism=MONGODB-X509 needs a client certificate in tlsCertificateKeyFile)`,
  'X.509 with an unknown subject': `${DATABASE} refuses the credentials (no user of $external has the subject of the certificate in tlsCertificateKeyFile)`,
  'no user in the connection string':
    'MONGODB_URI: plants are refused: the server asks for credentials, and the connection string has none',
  'a `tlsCAFile` without a certificate':
    'MONGODB_URI: expected a connection string of MongoDB (the file that tlsCAFile names must have a certificate in PEM (ERR_OSSL_PEM_NO_START_LINE)). Correct it',
  'a replica set that is not initiated': `${DATABASE} accepts no plants (the replica set is not initiated: run rs.initiate())`,
  'a database whose name differs from another only in case':
    'MONGODB_URI: plants are refused: the database "Garden" exists, and MongoDB refuses a name that differs only in case',
  ...lines(NOT_REACHABLE, (why) => `${DATABASE} is not reachable (${why})`),
  ...lines(
    NO_KEYS,
    (why) =>
      `JWT_ISSUER, JWKS_URL: the issuer's keys cannot be fetched (https://<host>/keys did not give a JSON document: ${why})`,
  ),
};

function lines(reasons: Readonly<Record<string, string>>, line: (why: string) => string) {
  return Object.fromEntries(Object.entries(reasons).map(([what, why]) => [what, line(why)]));
}

/** All lines: `docs/operations.md` shows those that need an explanation. */
const documented = new Map([
  ...[
    ...readFileSync(new URL('../../../../../docs/operations.md', import.meta.url), 'utf8').matchAll(
      /^\| (.+) \| `((?:MONGODB_URI|JWT_ISSUER, JWKS_URL): .+)` \| [A-Z].+ \|$/gm,
    ),
  ].map(([, what = '', line = '']) => [what, line] as const),
  ...Object.entries(SELF_EXPLANATORY),
]);

interface Misconfiguration {
  readonly what: string;
  readonly host: string;
  readonly env: Record<string, string>;
}

describe('What check and serve print about a misconfiguration', function () {
  this.timeout(300_000);
  let secure: SecureMongod;
  let strict: SecureMongod;
  let plain: MongodServer;
  let uninitiated: MongodServer;
  let unjournalled: MongodServer;
  let silent: Awaited<ReturnType<typeof silentServer>>;
  let expired: Server;
  let untrusted: Server;

  before(needsMongod);

  before(async () => {
    [secure, strict, plain, uninitiated, unjournalled, silent] = await Promise.all([
      SecureMongod.start(),
      SecureMongod.start({ certificatesRequired: true }),
      MongodServer.start(),
      MongodServer.start({ args: ['--replSet', 'plants'] }),
      MongodServer.start({ args: ['--nojournal'] }),
      silentServer(),
    ]);
    expired = await tlsServer(secure.certificates, true);
    untrusted = await tlsServer(secure.certificates, false);
  });

  after(async () => {
    const servers = [secure, strict, plain, uninitiated, unjournalled];
    await Promise.all(servers.map((server) => server.stop()));
    await silent.close();
    expired.close();
    untrusted.close();
  });

  afterEach(stopAll);

  it('is what docs/operations.md shows', async () => {
    const cases = await misconfigurations();
    expect([...new Set(cases.map(({ what }) => what))]).to.have.members([...documented.keys()]);
    const failures: string[] = [];
    // More at once would make a busy machine too slow for the time limit of a check.
    for (let at = 0; at < cases.length; at += 8) {
      const checks = cases.slice(at, at + 8).map(expectDocumented);
      const results = await Promise.allSettled(checks);
      for (const it of results) if (it.status === 'rejected') failures.push(`${it.reason}`);
    }
    expect(failures).to.deep.equal([]);
  });

  async function expectDocumented({ what, host, env }: Misconfiguration): Promise<void> {
    const line = (documented.get(what) ?? '').replaceAll('<host>', host);
    const check = new Command(['check'], env);
    const code = await check.ended;
    const printed = check.out + check.err;
    expect(code, what).to.equal(printed.includes('invalid configuration') ? 2 : 1);
    const found = printed.split('\n').filter((it) => it.endsWith(line));
    expect(found, `${what}: ${printed}`).to.have.length(1);
    expect(printed, what).not.to.match(PASSWORD);
    if (ALSO_SERVED.includes(what)) await (code === 2 ? expectRefused : expectServed)(env, line);
  }

  async function expectRefused(env: Record<string, string>, line: string): Promise<void> {
    const serve = new Command(['serve'], env);
    expect(await serve.ended).to.equal(2);
    expect(serve.err).to.include(`  ${line}\n`);
  }

  async function expectServed(env: Record<string, string>, line: string): Promise<void> {
    const service = await serveHere({ ...env, REQUEST_DEADLINE_MS: '500' });
    await service.printed(literally(`"msg":${JSON.stringify(line)}`));
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(503);
    expect((await createPlant(service.address, 1)).status).to.equal(503);
    expect(await service.stop()).to.equal(0);
    expect(service.out + service.err).not.to.match(PASSWORD);
  }

  async function misconfigurations(): Promise<Misconfiguration[]> {
    const certificates = await clientCertificates();
    const closed = `127.0.0.1:${await freePort()}`;
    const user = (name: string, password: string, query = 'authSource=admin') =>
      `mongodb://${name}:${encodeURIComponent(password)}@${secure.host}/plant-store?${query}&${secure.tls}`;
    const { password } = secure;
    const x509 = `${secure.tls}&authMechanism=MONGODB-X509`;
    const tls = (host: string, query = '') => `mongodb://${host}/?${secure.tls}${query}`;
    const key = (name: keyof typeof certificates) =>
      `&tlsCertificateKeyFile=${encodeURIComponent(certificates[name])}`;
    const strictly = (query: string) => `mongodb://${strict.host}/?${strict.tls}${query}`;
    await createCollections(plain);
    const database: [what: string, uri: string, host?: string][] = [
      ['a wrong user name, password or `authSource`', user('plant-store', 'wrong')],
      ['a wrong user name, password or `authSource`', user('unknown', password)],
      ['a wrong user name, password or `authSource`', user('plant-store', password, 'w=1')],
      [
        'an `authMechanism` that the server does not offer',
        user('plant-store', password, 'authMechanism=PLAIN'),
      ],
      ['a user without permissions', user('guest', password)],
      ['a wrong replica set name', `mongodb://${plain.host}/?replicaSet=other`, plain.host],
      ['a capped collection', `mongodb://${plain.host}/Garden`],
      ['a standalone server without a journal', `mongodb://${unjournalled.host}/`],
      ['`compressors` without its package', `mongodb://${plain.host}/?compressors=snappy`],
      ['X.509 without a client certificate', `mongodb://${secure.host}/?${x509}`],
      ['X.509 with an unknown subject', `mongodb://${secure.host}/?${x509}${key('stranger')}`],
      ['no user in the connection string', tls(secure.host)],
      ['no TLS, where the server requires it', `mongodb://${secure.host}/`],
      ['TLS, where the server has none', tls(plain.host), plain.host],
      ['an untrusted server certificate', `mongodb://${secure.host}/?tls=true`],
      ['an expired server certificate', tls(hostOf(expired)), hostOf(expired)],
      [
        'a host name that the server certificate does not name',
        tls(`localhost:${secure.port}`),
        `localhost:${secure.port}`,
      ],
      ['no client certificate, where the server requires one', strictly(''), strict.host],
      ['an untrusted client certificate', strictly(key('foreign')), strict.host],
      [
        'a `tlsCAFile` without a certificate',
        `mongodb://a/?tls=true&tlsCAFile=${certificates.empty}`,
      ],
      ['a replica set that is not initiated', `mongodb://${uninitiated.host}/`, uninitiated.host],
      ['a database whose name differs from another only in case', `mongodb://${plain.host}/garden`],
      ['an expired client certificate', strictly(key('expired')), strict.host],
      ['no server at this port', `mongodb://${closed}/`, closed],
      ['a host that does not respond', `mongodb://${silent.host}/`, silent.host],
    ];
    return [
      ...database.map(([what, MONGODB_URI, host = secure.host]) => {
        const collection = what === 'a capped collection' ? { MONGODB_COLLECTION: 'capped' } : {};
        return { what, host, env: { MONGODB_URI, ACCESS_TOKEN_SHA256, ...collection } };
      }),
      keysAt('an issuer whose certificate is not trusted', hostOf(untrusted)),
      keysAt('no issuer at this port', closed),
    ];
  }

  async function clientCertificates() {
    const { certificates } = secure;
    const stranger = await certificates.issue('stranger.pem', { subject: 'CN=stranger,O=Else' });
    const foreign = await (await CertificateFolder.create()).issue('foreign.pem', {
      subject: 'CN=x',
    });
    const expired = await strict.certificates.issue('expired.pem', {
      ...{ subject: 'CN=late', expired: true },
    });
    return { stranger, foreign, expired, empty: certificates.write('empty.pem', 'nothing\n') };
  }
});

function keysAt(what: string, host: string): Misconfiguration {
  const issuer = { JWT_ISSUER: 'https://login.example.com', JWT_AUDIENCE: 'plants' };
  return { what, host, env: { ...issuer, JWKS_URL: `https://${host}/keys` } };
}

async function createCollections(server: MongodServer): Promise<void> {
  const client = new MongoClient(server.uri);
  await client.db('Garden').createCollection('capped', { capped: true, size: 4096 });
  await client.close();
}

/** Starts a server that ends every connection after the TLS handshake. `mongod` does not start with an expired certificate. */
async function tlsServer(certificates: CertificateFolder, expired: boolean): Promise<Server> {
  const name = expired ? 'expired.pem' : 'untrusted.pem';
  const addresses = ['127.0.0.1'];
  const pem = readFileSync(await certificates.issue(name, { subject: 'CN=x', addresses, expired }));
  const server = createServer({ cert: pem, key: pem }, (socket) => socket.end());
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function literally(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
