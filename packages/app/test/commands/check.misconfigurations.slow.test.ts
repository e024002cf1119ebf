import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:tls';
import { CertificateFolder } from '@plant-store/certificates';
import { MongodServer, needsMongod, SecureMongod } from '@plant-store/mongod';
import { ACCESS_TOKEN_SHA256 } from '@plant-store/service-process';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { result, stopAll } from '../support/in-process.js';

const KEY = 'tlsCertificateKeyFile';
const CLOSED = 'the server closed the connection: it may';
const UNTRUSTED =
  'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority';

const unreachable = (...why: string[]) =>
  `the database at <host> is not reachable (${why.join(' ')})`;

/** The password of every user, as it is and as a connection string has it. */
const PASSWORD = /a( |%20)pass/;

interface Misconfiguration {
  readonly env: Record<string, string>;
  /** The line that is printed. */
  readonly line: string;
}

describe('What check prints about a misconfiguration', function () {
  this.timeout(300_000);
  let secure: SecureMongod;
  let uninitiated: MongodServer;
  let unjournalled: MongodServer;
  let expired: Server;

  before(needsMongod);

  before(async () => {
    [secure, uninitiated, unjournalled] = await Promise.all([
      SecureMongod.start({ certificatesRequired: true }),
      MongodServer.start({ args: ['--replSet', 'plants'] }),
      MongodServer.start({ args: ['--nojournal'] }),
    ]);
    expired = await expiredServer(secure.certificates);
  });

  after(async () => {
    const servers = [secure, uninitiated, unjournalled];
    await Promise.all(servers.map((server) => server.stop()));
    expired.close();
  });

  afterEach(stopAll);

  it('names what is wrong', async () => {
    const cases = await misconfigurations();
    const failures: string[] = [];
    // More at once would make a busy machine too slow for the time limit of a check.
    for (let at = 0; at < cases.length; at += 8) {
      const checks = cases.slice(at, at + 8).map(expectLine);
      const results = await Promise.allSettled(checks);
      for (const it of results) if (it.status === 'rejected') failures.push(`${it.reason}`);
    }
    expect(failures).to.deep.equal([]);
  });

  async function expectLine({ env, line }: Misconfiguration): Promise<void> {
    const { code, out, err } = await result(['check'], env);
    const printed = out + err;
    expect(code, line).to.equal(1);
    const found = printed.split('\n').filter((it) => it.endsWith(line));
    expect(found, `${line}: ${printed}`).to.have.length(1);
    expect(printed, line).not.to.match(PASSWORD);
  }

  async function misconfigurations(): Promise<Misconfiguration[]> {
    const certificates = await clientCertificates();
    await createCollections(unjournalled);
    const { host, password, tls } = secure;
    const { host: plain } = unjournalled;
    const key = (name: keyof typeof certificates) =>
      `&tlsCertificateKeyFile=${encodeURIComponent(certificates[name])}`;
    const user = (name: string, word = password, query = 'authSource=admin') =>
      `${name}:${encodeURIComponent(word)}@${host}/plant-store?${query}&${tls}${key('own')}`;
    const denied = 'plants are refused:';
    const refused = (why: string) => `the database at <host> refuses the credentials (${why})`;
    const wrong = refused(
      'the user name or the password is wrong, or authSource is not the database of the user',
    );
    const databases: [uri: string, line: string][] = [
      [user('plant-store', 'wrong'), wrong],
      [user('plant-store', password, 'w=1'), wrong],
      [
        user('plant-store', password, 'authMechanism=PLAIN'),
        refused('the server does not accept this authMechanism'),
      ],
      [user('guest'), `${denied} the permissions to read and insert them are missing`],
      [`${plain}/?replicaSet=other`, unreachable('no host belongs to the replica set other')],
      [`${plain}/Garden`, `${denied} "capped" is a capped collection, not a collection`],
      [`${plain}/`, `${denied} cannot use 'j' option when a host does not have journaling enabled`],
      [
        `${plain}/?compressors=snappy`,
        `${denied} an option needs the package snappy, which is not installed`,
      ],
      [
        `${host}/?${tls}${key('stranger')}&authMechanism=MONGODB-X509`,
        'the database at <host> refuses the credentials (no user of $external has the subject of the certificate in tlsCertificateKeyFile)',
      ],
      [`${host}/`, unreachable('the server closed the connection: it may require tls=true')],
      [`${plain}/?${tls}`, unreachable('the TLS handshake failed: the server may not use TLS')],
      [`${host}/?tls=true`, unreachable(UNTRUSTED)],
      [`${hostOf(expired)}/?${tls}`, unreachable('the certificate of the server has expired')],
      [
        `localhost:${secure.port}/?${tls}`,
        unreachable('the certificate of the server is for another host name'),
      ],
      [`${host}/?${tls}`, unreachable(CLOSED, 'require a client certificate in', KEY)],
      [
        `${host}/?${tls}${key('foreign')}`,
        unreachable(CLOSED, 'not trust the certificate in', KEY),
      ],
      [`${host}/?${tls}${key('expired')}`, unreachable('the certificate in', KEY, 'has expired')],
      [
        `${uninitiated.host}/`,
        'the database at <host> accepts no plants (the replica set is not initiated: run rs.initiate())',
      ],
    ];
    return [...databases.map(([uri, line]) => databaseAt(uri, `MONGODB_URI: ${line}`))];
  }

  async function clientCertificates() {
    const { certificates } = secure;
    const folder = await CertificateFolder.create();
    return {
      stranger: await certificates.issue('stranger.pem', { subject: 'CN=stranger,O=Else' }),
      own: secure.clientCertificate,
      foreign: await folder.issue('foreign.pem', { subject: 'CN=x' }),
      expired: await certificates.issue('late.pem', { subject: 'CN=late', expired: true }),
    };
  }
});

function databaseAt(uri: string, line: string): Misconfiguration {
  const [, host = ''] = /^(?:[^/]*@)?([^/]+)/.exec(uri) ?? [];
  const collection = uri.endsWith('/Garden') ? { MONGODB_COLLECTION: 'capped' } : {};
  return {
    env: { MONGODB_URI: `mongodb://${uri}`, ACCESS_TOKEN_SHA256, ...collection },
    line: line.replaceAll('<host>', host),
  };
}

async function createCollections(server: MongodServer): Promise<void> {
  const client = new MongoClient(server.uri);
  await client.db('Garden').createCollection('capped', { capped: true, size: 4096 });
  await client.close();
}

/** Starts a server that ends every connection after the TLS handshake. `mongod` does not start with an expired certificate. */
async function expiredServer(certificates: CertificateFolder): Promise<Server> {
  const options = { subject: 'CN=x', addresses: ['127.0.0.1'], expired: true };
  const pem = readFileSync(await certificates.issue('expired.pem', options));
  const server = createServer({ cert: pem, key: pem }, (socket) => socket.end());
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
