import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:tls';
import { certificates } from '@plant-store/test-servers/certificates';
import { MongodServer, needsMongod, SecureMongod } from '@plant-store/test-servers/mongod';
import { ACCESS_TOKEN_SHA256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { result, stopAll } from '../support/in-process.js';

const CLOSED =
  'the server closed the connection: it may have no connection left, or require tls=true, or a client certificate (tlsCertificateKeyFile) that it trusts and that has not expired';

const unreachable = (why: string) => `the database at <host> is not reachable (${why})`;

/** The password of every user, as it is and as it stands in a connection string. */
const PASSWORD = /a( |%20)pass/;

describe('The output of plant-store check', function () {
  this.timeout(300_000);
  let secure: SecureMongod;
  let plain: MongodServer;
  let server: Server;
  /** The host of a server whose certificate has expired. */
  let expired: string;

  before(needsMongod);

  before(async () => {
    [secure, plain] = await Promise.all([
      SecureMongod.start({ certificatesRequired: true }),
      MongodServer.start(),
    ]);
    server = await expiredServer();
    expired = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(async () => {
    server.close();
    await Promise.all([secure, plain].map((it) => it.stop()));
  });

  afterEach(stopAll);

  it('names the cause of each misconfiguration', async () => {
    const cases = misconfigurations();
    expect(await printedFor(cases)).to.deep.equal(
      cases.map(([uri, line]) => [line.replace('<host>', hostIn(uri))]),
    );
  });

  /** Resolves with the lines that a check of each connection string prints. */
  async function printedFor(cases: ReturnType<typeof misconfigurations>) {
    const printed: string[][] = [];
    // More together would make a busy machine too slow for the time limit of a check.
    for (let at = 0; at < cases.length; at += 8) {
      const checks = cases.slice(at, at + 8).map(([uri]) => linesFor(uri));
      printed.push(...(await Promise.all(checks)));
    }
    return printed;
  }

  /** Returns connection strings without their scheme, by their problem. */
  function misconfigurations(): readonly (readonly [uri: string, line: string])[] {
    const { host, password, tls } = secure;
    const key = (file: string) => `&tlsCertificateKeyFile=${encodeURIComponent(file)}`;
    const user = (name: string, word = password, query = 'authSource=admin') =>
      `${name}:${encodeURIComponent(word)}@${host}/plant-store?${query}&${tls}${key(certificates.client)}`;
    const denied =
      'plants are refused: the service is not logged in as a user who may read and insert plants';
    const refused = (why: string) => `the database at <host> refuses the credentials (${why})`;
    const wrong = refused(
      'the user name, the password, authSource or the client certificate is wrong',
    );
    return [
      [user('plant-store', 'wrong'), wrong],
      [user('plant-store', password, 'authSource=plant-store'), wrong],
      [
        user('plant-store', password, 'authMechanism=PLAIN'),
        refused('Received authentication for mechanism PLAIN which is not enabled'),
      ],
      [user('guest'), denied],
      [
        `${host}/?${tls}${key(certificates.stranger)}&authMechanism=MONGODB-X509`,
        refused('Could not find user "CN=stranger,O=Else" for db "$external"'),
      ],
      [`${host}/`, unreachable(CLOSED)],
      [
        `${plain.host}/?${tls}`,
        unreachable(
          'Client network socket disconnected before secure TLS connection was established',
        ),
      ],
      [`${host}/?tls=true`, unreachable('self-signed certificate in certificate chain')],
      [`${expired}/?${tls}`, unreachable('certificate has expired')],
      [
        `localhost:${secure.port}/?${tls}`,
        unreachable(
          "Hostname/IP does not match certificate's altnames: Host: localhost. is not cert's CN: mongod",
        ),
      ],
      [`${host}/?${tls}`, unreachable(CLOSED)],
      [`${host}/?${tls}${key(certificates.foreign)}`, unreachable(CLOSED)],
      [`${host}/?${tls}${key(certificates.expired)}`, unreachable(CLOSED)],
    ];
  }
});

const hostIn = (uri: string) => /^(?:[^/]*@)?([^/]+)/.exec(uri)?.[1] ?? '';

/** Resolves with what a check prints about a connection string. */
async function linesFor(uri: string): Promise<string[]> {
  const env = { MONGODB_URI: `mongodb://${uri}`, ACCESS_TOKEN_SHA256 };
  const { code, out, err } = await result(['check'], env);
  expect(code, uri).to.equal(1);
  expect(out + err, uri).not.to.match(PASSWORD);
  return [...(out + err).matchAll(/MONGODB_URI: (.*)$/gm)].map(([, line = '']) => line);
}

/** Starts a server that ends every connection after the TLS handshake. `mongod` does not start with an expired certificate. */
async function expiredServer(): Promise<Server> {
  const pem = readFileSync(certificates.expired);
  const server = createServer({ cert: pem, key: pem }, (socket) => socket.end());
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
