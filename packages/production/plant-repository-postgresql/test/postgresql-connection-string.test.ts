import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { errorOf } from '@plant-store/contract-suite';
import {
  InvalidPostgresqlUriError,
  postgresqlPlantRepository,
  postgresqlUriProblem,
} from '@plant-store/plant-repository-postgresql';
import { certificates } from '@plant-store/test-servers/certificates';
import { expect } from 'chai';
import { Client } from 'pg';
import { readUri } from '../src/postgresql-connection-string.js';

const URI = 'postgresql://gardener:s3cret@db.example:5433/garden';
const ca = encodeURI(certificates.ca);

/** How a connection is protected: without TLS, with TLS that verifies nothing, or that verifies the server and its name. */
type Tls = 'plain' | 'unverified' | 'verified';

function tlsOf(uri: string, env: NodeJS.ProcessEnv = {}): Tls {
  const { ssl } = new Client(readUri(uri, env)) as unknown as { ssl: unknown };
  if (!ssl) return 'plain';
  const { rejectUnauthorized, checkServerIdentity } = ssl as Record<string, unknown>;
  expect(checkServerIdentity).to.equal(undefined);
  return rejectUnauthorized === false ? 'unverified' : 'verified';
}

/** What hosting platforms and tools print or document, how it is protected, and which parameters must be removed. */
// biome-ignore format: a table
const COPIED: readonly (readonly [who: string, uri: string, tls: Tls, remove?: string])[] = [
  ['Neon', 'postgresql://a:b@ep-cool-1234.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require', 'verified', 'channel_binding'],
  ['Neon, without SNI', 'postgres://a:b@ep-cool-1234.eu-central-1.aws.neon.tech/neondb?sslmode=require&options=endpoint%3Dep-cool-1234', 'verified'],
  ['the pooler of Supabase', 'postgres://postgres.abc:b@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1', 'plain', 'pgbouncer, connection_limit'],
  ['Render', 'postgresql://a:b@dpg-abc-a.frankfurt-postgres.render.com/garden?ssl=true', 'verified'],
  ['RDS', 'postgresql://a:b@x.eu-central-1.rds.amazonaws.com/garden?sslmode=verify-full', 'verified'],
  ['Cloud SQL', 'postgresql://a:b@localhost/garden?host=/cloudsql/p:r:i', 'plain'],
  ['Cloud SQL, without a host', 'postgresql:///garden?host=/cloudsql/p:r:i&user=a&password=b', 'plain'],
  ['Cloud SQL, with a user only', 'postgresql://a:b@/garden?host=/cloudsql/p:r:i', 'plain'],
  ['libpq, with a socket', 'postgresql://a:b@%2Fvar%2Frun%2Fpostgresql/garden', 'plain'],
  ['Prisma', 'postgresql://a:b@host:5432/garden?schema=public', 'plain', 'schema'],
  ['PlanetScale', 'postgresql://a:b@x.pg.psdb.cloud:5432/postgres?sslmode=verify-full&sslrootcert=system&sslnegotiation=direct', 'verified'],
  ['CockroachDB', 'postgresql://a:b@x.cockroachlabs.cloud:26257/defaultdb?sslmode=verify-full&options=--cluster%3Dx-1', 'verified'],
  ['JDBC', 'postgresql://host/garden?user=a&password=b&ssl=true&currentSchema=x&ApplicationName=y', 'verified', 'currentSchema, ApplicationName'],
  ['node-postgres', 'postgres://a:b@host/garden?sslmode=no-verify', 'unverified'],
  ['node-postgres as libpq', 'postgres://a:b@host/garden?uselibpqcompat=true&sslmode=require', 'verified', 'uselibpqcompat'],
];

describe('A connection string of PostgreSQL', () => {
  for (const [who, uri, tls, remove] of COPIED) {
    it(`gives ${tls} connections${remove ? ` without ${remove}` : ''}: ${who}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(remove && `remove the unsupported ${remove}`);
      const url = new URL(uri.replace(/:\/\/\//, '://localhost/').replace('@/', '@localhost/'));
      for (const name of remove?.split(', ') ?? []) url.searchParams.delete(name);
      expect(tlsOf(remove ? url.href : uri)).to.equal(tls);
    });
  }

  for (const uri of [
    'postgresql://gardener:1234/garden',
    'postgresql://gardener:s3cret@db.example',
    'postgresql://gardener:s3cret@a,b/garden',
    'postgresql://gardener:s3cret@a/garden?host=b,c',
    'postgresql://gardener:s3cret@/garden',
    'postgresql://gardener:s3cret@a/garden?application_name=x#&sslmode=require',
    'postgresql://gardener:s3@cret@a/garden',
    'postgresql://gardener:s3/cret@a/garden',
    'postgresql://gardener:12/34@a/garden?user=gardener',
    'postgresql://gardener:s3?cret@a/garden',
    'postgresql://a/garden?user=gardener&password=s3&cret',
    'mysql://gardener:s3cret@db.example/garden',
  ]) {
    it(`is refused without its password: ${uri}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(
        'it must contain a user, exactly one host and a database; percent-encode special characters',
      );
    });
  }

  it('throws an error with a code if it is invalid', () => {
    const uri = 'postgresql://gardener:s3cret@a/garden?sslmode=on';
    expect(() => postgresqlPlantRepository({ uri }))
      .to.throw(InvalidPostgresqlUriError, 'sslmode (or PGSSLMODE) must be')
      .with.property('code', 'INVALID_POSTGRESQL_URI');
  });

  it('is refused with the reason if a file cannot be read', () => {
    expect(postgresqlUriProblem(`${URI}?sslrootcert=/none`)).to.equal(
      "ENOENT: no such file or directory, open '/none'",
    );
  });

  it('may require TLS without a warning', async () => {
    const warnings: Error[] = [];
    const collect = (warning: Error) => warnings.push(warning);
    process.on('warning', collect);
    expect(postgresqlUriProblem(`${URI}?sslmode=require`)).to.equal(undefined);
    await setImmediate();
    process.off('warning', collect);
    expect(warnings).to.deep.equal([]);
  });

  const REFUSED = [
    ['require_auth=scram-sha-256', 'remove the unsupported require_auth'],
    ['requiressl=1&gssencmode=require', 'remove the unsupported requiressl, gssencmode'],
    ['SSLMODE=require', 'remove the unsupported SSLMODE'],
    ['port=5432,5433', 'port must be a whole number'],
    ['sslmode=REQUIRE', 'sslmode (or PGSSLMODE) must be verify-full, no-verify or disable'],
    ['sslmode=', 'sslmode (or PGSSLMODE) must be verify-full, no-verify or disable'],
    ['ssl=false', 'ssl must be true'],
    ['sslmode=disable&sslmode=require', 'sslmode must not appear twice'],
    ['ssl=true&sslmode=disable', 'ssl needs sslmode=verify-full'],
    ['sslmode=disable&sslrootcert=/x', 'sslrootcert needs sslmode=verify-full'],
    ['sslmode=disable&sslnegotiation=direct', 'sslnegotiation needs sslmode=verify-full'],
    ['sslmode=no-verify&sslrootcert=system', 'sslrootcert has no effect with no-verify'],
  ] as const;

  for (const [parameters, problem] of REFUSED) {
    it(`is refused with ${parameters}`, () => {
      expect(postgresqlUriProblem(`${URI}?${parameters}`)).to.include(problem);
    });
  }

  const VERIFIED = `sslmode=allow sslmode=prefer sslmode=require sslmode=verify-ca sslmode=verify-full sslmode=%72equire
    ssl%6Dode=require ssl=true ssl=1 sslrootcert=system sslnegotiation=direct ssl=true&sslmode=require
    sslrootcert=${ca} sslmode=require&sslrootcert=${ca} sslcert=${ca}&sslkey=${ca}`;

  for (const parameters of VERIFIED.split(/\s+/)) {
    it(`gives verified TLS with ${parameters.replaceAll(ca, 'a file')}`, () => {
      expect(tlsOf(`${URI}?${parameters}`)).to.equal('verified');
      expect(tlsOf(`${URI}?${parameters}`, { PGSSLMODE: 'disable' })).to.equal('verified');
    });
  }
});

describe('A variable of libpq', () => {
  const SECURE = `PGREQUIRESSL=1 PGCHANNELBINDING=require PGREQUIREAUTH=scram-sha-256 PGREQUIREPEER=postgres
    PGGSSENCMODE=require PGSSLROOTCERT=/x PGSSLCRL=/x PGSSLMINPROTOCOLVERSION=TLSv1.3`;
  for (const variable of SECURE.split(/\s+/)) {
    const [name = '', value] = variable.split('=');
    it(`is refused if it asks for security that the service ignores: ${name}`, () => {
      const problem = `unset the unsupported ${name}: sslmode=verify-full requires TLS`;
      expect(() => readUri(URI, { [name]: value })).to.throw(InvalidPostgresqlUriError, problem);
    });
  }

  it('is accepted if it asks for no such security', () => {
    const env = { PGREQUIRESSL: '0', PGGSSENCMODE: 'disable', PGSSLROOTCERT: '', PGHOST: 'a' };
    const plain = { ...env, PGCHANNELBINDING: 'prefer', PGSSLMODE: 'disable' };
    expect(tlsOf(URI, plain)).to.equal('plain');
  });

  it('such as PGSSLMODE applies if the connection string does not mention TLS', () => {
    expect(tlsOf(URI, { PGSSLMODE: 'require' })).to.equal('verified');
    expect(tlsOf(URI, { PGSSLMODE: 'no-verify' })).to.equal('unverified');
    expect(tlsOf(`${URI}?sslmode=disable`, { PGSSLMODE: 'require' })).to.equal('plain');
    expect(() => readUri(URI, { PGSSLMODE: 'on' })).to.throw('(or PGSSLMODE) must be');
  });
});

describe('A password', () => {
  let server: Server;
  let received: string;
  let offersTls: boolean;
  const sockets = new Set<Socket>();

  /** Asks for the password in clear text, as a server of an attacker may. */
  const askForPassword = (stream: Socket) => {
    stream.on('data', (data) => {
      received += data;
      if (received.includes('s3cret')) stream.destroy();
      stream.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  };

  beforeEach(async () => {
    received = '';
    const pem = readFileSync(certificates.server);
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      const begin = (first: Buffer) => {
        // A request for TLS has 8 bytes. Anything else begins a session without it.
        if (first.length !== 8) socket.unshift(first);
        else socket.write(offersTls ? 'S' : 'N');
        const isTls = first.length === 8 && offersTls;
        const stream = isTls
          ? new TLSSocket(socket, { isServer: true, key: pem, cert: pem })
          : socket;
        askForPassword(stream.on('error', () => undefined));
      };
      socket.once('data', begin);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  async function sentTo(parameters: string): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const uri = `postgresql://gardener:s3cret@127.0.0.1:${port}/garden?${parameters}`;
    const repository = postgresqlPlantRepository({ uri });
    await errorOf(repository.ready());
    await repository.close();
    return received;
  }

  for (const parameters of ['sslmode=prefer', 'sslmode=no-verify', 'sslrootcert=system']) {
    it(`is never sent without TLS with ${parameters}`, async () => {
      offersTls = false;
      expect(await sentTo(parameters)).to.equal('');
    });
  }

  it('is never sent to a server that is not trusted', async () => {
    offersTls = true;
    expect(await sentTo('sslmode=require')).to.equal('');
  });

  it('is sent over TLS to a trusted server, or in plain text if no TLS is required', async () => {
    offersTls = true;
    expect(await sentTo(`sslrootcert=${ca}`)).to.include('s3cret');
    received = '';
    expect(await sentTo('sslmode=disable')).to.include('s3cret');
  });
});
