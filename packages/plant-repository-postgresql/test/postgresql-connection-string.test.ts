import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  postgresqlPlantRepository,
  postgresqlUriProblem,
  type StoreEvent,
} from '@plant-store/plant-repository-postgresql';
import { certificates } from '@plant-store/test-servers/certificates';
import { expect } from 'chai';
import { Client } from 'pg';
import { readUri } from '../src/postgresql-connection-string.js';

const URI = 'postgresql://gardener:s3cret@db.example:5433/garden';

/** How a connection is protected: without TLS, with TLS that verifies nothing, or that verifies the server and its name. */
type Tls = 'plain' | 'unverified' | 'authority' | 'verified';

function tlsOf(uri: string): Tls {
  const { ssl } = new Client(readUri(uri)) as unknown as { ssl: unknown };
  if (!ssl) return 'plain';
  if (ssl === true) return 'verified';
  const { rejectUnauthorized, checkServerIdentity } = ssl as Record<string, unknown>;
  if (rejectUnauthorized === false) return 'unverified';
  return checkServerIdentity ? 'authority' : 'verified';
}

const namesWithoutEffect = (uri: string) =>
  readUri(uri).withoutEffect.map((it) => /^the parameter (\S+) of/.exec(it)?.[1]);

const expectSecret = (problem: string | undefined) => expect(problem).to.not.match(/s3cret|1234/);

/** What hosting platforms and tools print or document, how it is protected, and which parameters are reported. */
const COPIED: readonly (readonly [who: string, uri: string, tls: Tls, reported?: string])[] = [
  [
    'Neon',
    'postgresql://a:b@ep-cool-1234.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require',
    'verified',
  ],
  [
    'Neon, without SNI',
    'postgres://a:b@ep-cool-1234.eu-central-1.aws.neon.tech/neondb?sslmode=require&options=endpoint%3Dep-cool-1234',
    'verified',
  ],
  ['Supabase', 'postgresql://postgres:b@db.abc.supabase.co:5432/postgres', 'plain'],
  [
    'the pooler of Supabase',
    'postgres://postgres.abc:b@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1',
    'plain',
    'pgbouncer connection_limit',
  ],
  ['Heroku', 'postgres://a:b@ec2-1.compute-1.amazonaws.com:5432/d4abc?sslmode=require', 'verified'],
  [
    'Render',
    'postgresql://a:b@dpg-abc-a.frankfurt-postgres.render.com/garden?ssl=true',
    'verified',
  ],
  ['Railway', 'postgresql://postgres:b@postgres.railway.internal:5432/railway', 'plain'],
  ['Fly', 'postgres://a:b@garden-db.flycast:5432/garden?sslmode=disable', 'plain'],
  [
    'DigitalOcean',
    'postgresql://doadmin:b@db-1-do-user-1-0.b.db.ondigitalocean.com:25060/defaultdb?sslmode=require',
    'verified',
  ],
  [
    'Aiven',
    'postgres://avnadmin:b@pg-1.aivencloud.com:12345/defaultdb?sslmode=require',
    'verified',
  ],
  [
    'RDS',
    'postgresql://a:b@x.eu-central-1.rds.amazonaws.com/garden?sslmode=verify-full',
    'verified',
  ],
  ['Azure', 'postgres://a%40x:b@x.postgres.database.azure.com/garden?sslmode=require', 'verified'],
  ['Cloud SQL', 'postgresql://a:b@localhost/garden?host=/cloudsql/p:r:i', 'plain'],
  [
    'Cloud SQL, without a host',
    'postgresql:///garden?host=/cloudsql/p:r:i&user=a&password=b',
    'plain',
  ],
  ['Cloud SQL, with a user only', 'postgresql://a:b@/garden?host=/cloudsql/p:r:i', 'plain'],
  ['libpq, with a socket', 'postgresql://a:b@%2Fvar%2Frun%2Fpostgresql/garden', 'plain'],
  ['Prisma', 'postgresql://a:b@host:5432/garden?schema=public', 'plain', 'schema'],
  [
    'Vercel',
    'postgres://default:b@ep-1-pooler.us-east-1.postgres.vercel-database.com:5432/verceldb?pgbouncer=true&connect_timeout=15&sslmode=require',
    'verified',
    'pgbouncer connect_timeout',
  ],
  [
    'PlanetScale',
    'postgresql://a:b@x.pg.psdb.cloud:5432/postgres?sslmode=verify-full&sslrootcert=system&sslnegotiation=direct',
    'verified',
  ],
  [
    'CockroachDB',
    'postgresql://a:b@x.cockroachlabs.cloud:26257/defaultdb?sslmode=verify-full&options=--cluster%3Dx-1',
    'verified',
  ],
  [
    'Timescale',
    'postgres://tsdbadmin:b@x.tsdb.cloud.timescale.com:30000/tsdb?sslmode=require',
    'verified',
  ],
  [
    'Yugabyte',
    'postgresql://a:b@h:5433/y?load_balance=true&sslmode=verify-full',
    'verified',
    'load_balance',
  ],
  ['Crunchy Bridge', 'postgres://a:b@p.x.db.postgresbridge.com:5432/postgres', 'plain'],
  ['Xata', 'postgresql://a:b@eu-central-1.sql.xata.sh/garden:main?sslmode=require', 'verified'],
  ['Koyeb', 'postgres://a:b@ep-1.eu-central-1.pg.koyeb.app/koyebdb', 'plain'],
  [
    'Django',
    'postgres://a:b@host/garden?application_name=x&connect_timeout=5',
    'plain',
    'connect_timeout',
  ],
  [
    'JDBC',
    'postgresql://host/garden?user=a&password=b&ssl=true&currentSchema=x&ApplicationName=y',
    'verified',
    'currentSchema ApplicationName',
  ],
  [
    'pgx',
    'postgres://a:b@host/garden?sslmode=disable&pool_max_conns=10',
    'plain',
    'pool_max_conns',
  ],
  ['node-postgres', 'postgres://a:b@host/garden?sslmode=no-verify', 'unverified'],
  [
    'node-postgres as libpq',
    'postgres://a:b@host/garden?uselibpqcompat=true&sslmode=require',
    'unverified',
  ],
  [
    'SQLAlchemy',
    'postgresql://a:b@host/garden?target_session_attrs=read-write&keepalives_idle=30',
    'plain',
    'target_session_attrs keepalives_idle',
  ],
];

describe('A connection string of PostgreSQL', () => {
  for (const [who, uri, tls, reported = ''] of COPIED) {
    it(`of ${who} is ${tls}${reported && `, and ${reported} has no effect`}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(undefined);
      expect(tlsOf(uri)).to.equal(tls);
      expect(namesWithoutEffect(uri).join(' ')).to.equal(reported);
    });
  }

  for (const uri of [
    'postgresql://gardener:1234/garden',
    'postgresql://gardener:s3cret@db.example',
    'postgresql://gardener:s3cret@a,b/garden',
    'postgresql://gardener:s3cret@a/garden?host=b,c',
    'postgresql://gardener:s3cret@/garden',
    'postgresql://gardener:s3cret@a/garden?application_name=x#&sslmode=require',
    'mysql://gardener:s3cret@db.example/garden',
  ]) {
    it(`is refused without its password: ${uri.replace(/s3cret|1234/, '...')}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(
        'it must contain a user, exactly one host and a database; percent-encode special characters',
      );
    });
  }

  it('is valid in the README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, uri = ''] = /const uri = '(.*)'/.exec(readme) ?? [];
    expect(postgresqlUriProblem(uri)).to.equal(undefined);
  });

  it('is refused with the reason when a file cannot be read', () => {
    expect(postgresqlUriProblem(`${URI}?sslrootcert=/none`)).to.equal(
      "ENOENT: no such file or directory, open '/none'",
    );
    expect(postgresqlUriProblem(URI)).to.equal(undefined);
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
});

/** Of libpq 12 to 18, JDBC and other drivers: those that have no effect, and ask for no security. */
const REPORTED = `dbname=x hostaddr=10.0.0.1 passfile=/x connect_timeout=3 client_encoding=latin1 keepalives=0
  keepalives_idle=9 keepalives_interval=9 keepalives_count=9 tcp_user_timeout=9 replication=database
  krbsrvname=x gsslib=gssapi gssdelegation=1 service=x servicefile=/x target_session_attrs=read-write
  target_session_attrs=standby load_balance_hosts=random scram_client_key=x scram_server_key=x
  min_protocol_version=3.0 max_protocol_version=latest tty=x
  schema=x currentSchema=x loginTimeout=3 connectTimeout=3 socketTimeout=3 tcpKeepAlive=true prepareThreshold=0
  targetServerType=primary readOnly=true reWriteBatchedInserts=true stringtype=unspecified binaryTransfer=false
  defaultRowFetchSize=10 ApplicationName=x databaseName=x PGHOST=x
  connection_limit=1 pgbouncer=true pool_timeout=3 socket_timeout=3 statement_cache_size=0 binary=true
  query_timeout=1 max=1 idleTimeoutMillis=1 Options=x Host=x`;

/** Those that ask for security which this package does not give. */
const REFUSED = `requiressl=2 require_auth=scram-sha-256 requirepeer=postgres channel_binding=always channelBinding=require
  Channel%20Binding=Require   gssencmode=require gssEncMode=require sslpassword=x sslcrl=/x sslcrldir=/x sslcertmode=require sslkeylogfile=/x
  sslcompression=1 sslsni=0 ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2 sslfactory=x
  sslpasswordcallback=x authenticationPluginClassName=x sslaccept=strict sslidentity=/x sslmode=REQUIRE sslmode=on
  sslmode= SSLMODE=require sslMode=require Ssl=true ssl=require ssl=yes ssl=%7B%22rejectUnauthorized%22%3Afalse%7D
  sslNegotiation=direct sslnegotiation=always oauth_issuer=x authtype=x tls=true encrypt=true verify=full`;

describe('A parameter', () => {
  for (const parameter of REPORTED.split(/\s+/)) {
    it(`without an effect is reported by name: ${parameter}`, () => {
      const uri = `${URI}?${parameter}&sslmode=verify-full`;
      expect(postgresqlUriProblem(uri)).to.equal(undefined);
      expect(namesWithoutEffect(uri)).to.deep.equal([parameter.replace(/=.*/, '')]);
      expect(tlsOf(uri)).to.equal('verified');
    });
  }

  for (const parameter of REFUSED.split(/\s+/)) {
    it(`that asks for security in vain is refused: ${parameter}`, () => {
      const problem = postgresqlUriProblem(`${URI}?${parameter}`);
      expect(problem).to.include(decodeURIComponent(parameter).replace(/=.*/, ''));
      expectSecret(problem);
    });
  }

  for (const port of ['abc', '5432,5433', '5432/']) {
    it(`port is refused if it is not a number: ${port}`, () => {
      expect(postgresqlUriProblem(`${URI}?port=${port}`)).to.equal('port must be a whole number');
    });
  }

  const HOLDING =
    'gssencmode=disable gssencmode=prefer sslsni=1 sslcompression=0 channel_binding=prefer requiressl=0 ssl=false ssl=0 sslmode=disable';
  for (const parameter of HOLDING.split(' ')) {
    it(`that asks for what holds anyway is accepted: ${parameter}`, () => {
      expect(namesWithoutEffect(`${URI}?${parameter}`)).to.deep.equal([]);
      expect(tlsOf(`${URI}?${parameter}`)).to.equal('plain');
    });
  }

  const VERIFIED =
    'sslmode=allow sslmode=prefer sslmode=require sslmode=verify-ca sslmode=verify-full sslmode=%72equire ssl%6Dode=require ssl=true ssl=1 requiressl=1 sslrootcert=system sslnegotiation=direct ssl=true&sslmode=require channel_binding=require&ssl=true uselibpqcompat=true&sslmode=verify-full uselibpqcompat=true&sslmode=require&sslrootcert=system';
  for (const parameters of VERIFIED.split(' ')) {
    it(`gives verified TLS: ${parameters}`, () => {
      expect(tlsOf(`${URI}?${parameters}`)).to.equal('verified');
    });
  }

  it('gives TLS with the authority of a file, whatever the requested mode', () => {
    const { authority } = certificates;
    expect(tlsOf(`${URI}?sslrootcert=${authority}`)).to.equal('verified');
    expect(tlsOf(`${URI}?sslmode=require&sslrootcert=${authority}`)).to.equal('verified');
    const compatible = `${URI}?uselibpqcompat=true&sslrootcert=${authority}`;
    expect(tlsOf(`${compatible}&sslmode=require`)).to.equal('authority');
    expect(tlsOf(`${compatible}&sslmode=verify-ca`)).to.equal('authority');
  });

  const CONTRADICTIONS = [
    'ssl=true&sslmode=disable',
    'ssl=false&sslmode=require',
    'requiressl=1&sslmode=disable',
    'sslmode=disable&sslmode=require',
    'sslmode=disable&sslrootcert=/x',
    'sslmode=no-verify&sslrootcert=/x',
    'sslmode=no-verify&sslrootcert=system',
    'sslmode=disable&sslnegotiation=direct',
    'channel_binding=require',
    'channel_binding=require&sslmode=disable',
  ];
  for (const parameters of CONTRADICTIONS) {
    it(`must not contradict another: ${parameters}`, () => {
      expect(postgresqlUriProblem(`${URI}?${parameters}`)).to.be.a('string');
    });
  }

  it('without an effect is reported when the store opens', async () => {
    const events: StoreEvent[] = [];
    const observer = (event: StoreEvent) => events.push(event);
    const uri = 'postgresql://a:b@127.0.0.1:1/garden?schema=x';
    await postgresqlPlantRepository({ uri, observer }).close();
    expect(events).to.deep.include({
      type: 'store warning',
      message:
        'the parameter schema of the connection string has no effect. Use options=-csearch_path%3D… instead',
    });
  });
});
