import { type Explanation, NoResponseError } from '@plant-store/plant-repository-group-commit';
import type { Topology } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import {
  MongoClient,
  type MongoError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  type ServerDescription,
} from 'mongodb';
import { explain, insertError, storeError } from '../src/mongo-error.js';

const SILENT = 'the server does not respond';
const NO_PRIMARY = 'the replica set has no primary';
const DENIED = 'the service is not logged in as a user who may read and insert plants';
const WRONG = 'the user name, the password, authSource or the client certificate is wrong';
const CLOSED =
  'the server closed the connection: it may require tls=true, or a client certificate (tlsCertificateKeyFile) that it trusts and that has not expired';
const ALERT =
  '80DC:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/openssl/rec_layer_s3.c:1601:SSL alert number 116\n';

const client = new MongoClient('mongodb://host0:27017/');

const coded = (code: string) => Object.assign(new Error(`code ${code}`), { code });
const replied = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });

/** An error of the driver's handshake with a server, which includes the login. */
function inHandshake<E extends MongoError>(error: E): E {
  error.addErrorLabel('HandshakeError');
  return error;
}

/** An error of the driver's monitor or pool, with its cause. */
const because = (cause: Error) => new MongoNetworkError(cause.message, { cause });

/** What real servers cause is in the test of `plant-store check` and of the credentials. */
describe('What an error means', () => {
  const missing = { cause: coded('MODULE_NOT_FOUND'), dependencyName: 'zstd' };
  type Row = readonly [finding: Explanation['finding'], message: string, error: unknown];
  const rows: Readonly<Record<string, Row>> = {
    'writes that are slow': ['slow', 'writes are not acknowledged', storeError('slow writes')],
    'a missing package': [
      'unusable',
      'install zstd',
      new MongoMissingDependencyError('install zstd', missing),
    ],
    'a command that is too large': [
      'unusable',
      'too large',
      new MongoInvalidArgumentError('too large'),
    ],
    'a database whose name differs in case': ['unusable', 'no', replied(13297)],
    'a command that Atlas refuses': ['unusable', 'no', replied(8000)],
    'a missing permission': ['unusable', DENIED, replied(13)],
    'an insert that Atlas refuses': [
      'unusable',
      'the server reports error 8000: over your quota',
      insertError({ code: 8000, errmsg: 'over your quota' }),
    ],
    'a login that Atlas refuses': ['credentials refused', 'no', inHandshake(replied(8000))],
    'an unknown user': ['credentials refused', 'no', inHandshake(replied(11))],
    'a wrong password': ['credentials refused', WRONG, because(inHandshake(replied(18)))],
    'a server that shuts down': ['unknown', 'no', replied(91)],
    'a server that shuts down during a login': ['unreachable', 'no', inHandshake(replied(91))],
    'no response': ['no response', SILENT, new NoResponseError()],
    'no response on a connection': [
      'no response',
      SILENT,
      new MongoNetworkTimeoutError('timed out after 1999ms'),
    ],
    'something that is not an error': ['unreachable', SILENT, 'no error'],
    'an error without a message': ['unreachable', SILENT, new Error()],
    'a connection that is reset': ['unreachable', 'code ECONNRESET', because(coded('ECONNRESET'))],
    'a connection that is closed': ['unreachable', 'it closed', new MongoNetworkError('it closed')],
    'a handshake that the server ends': [
      'unreachable',
      CLOSED,
      because(inHandshake(new MongoNetworkError('it closed'))),
    ],
    'a TLS alert': [
      'unreachable',
      'tlsv13 alert certificate required',
      inHandshake(because(new Error(ALERT))),
    ],
  };
  for (const [what, [finding, message, error]] of Object.entries(rows)) {
    it(`is "${finding}" for ${what}`, () => {
      const explained = explain(error, undefined, client);
      expect(explained.finding).to.equal(finding);
      expect(explained.message).to.include(message);
    });
  }
});

type Described = readonly [type: ServerDescription['type'], error?: Error];

function topologyOf(type: Topology['type'], described: readonly Described[]): Topology {
  const servers = described.map(([type, error = null], at): [string, ServerDescription] => [
    `host${at}:27017`,
    { type, error, isWritable: false } as unknown as ServerDescription,
  ]);
  return { type, servers: new Map(servers) };
}

describe('What an error means while no known server accepts writes', () => {
  const slow = new MongoNetworkTimeoutError("Socket 'connect' timed out after 1999ms");
  type Row = readonly [Explanation['finding'], string, Topology['type'], ...Described[]];
  const rows: Readonly<Record<string, Row>> = {
    'a silent host': ['no response', SILENT, 'Unknown', ['Unknown']],
    'hosts of another replica set': [
      'unreachable',
      'no host belongs to the replica set that replicaSet names',
      'Unknown',
    ],
    'a host that is not found': [
      'unreachable',
      'code ENOTFOUND',
      'Unknown',
      ['Unknown', coded('ENOTFOUND')],
    ],
    'members that are not reached': [
      'unreachable',
      'code ENOTFOUND; code ECONNREFUSED',
      'ReplicaSetNoPrimary',
      ['Unknown', coded('ENOTFOUND')],
      ['Unknown', coded('ECONNREFUSED')],
      ['Unknown', coded('ENOTFOUND')],
    ],
    'a replica set that is not initiated': [
      'not now',
      'the replica set is not initiated: run rs.initiate()',
      'Unknown',
      ['RSGhost'],
    ],
    'a direct connection to a secondary': [
      'not now',
      'the server is not a primary and does not accept writes',
      'Single',
      ['RSSecondary'],
    ],
    'no primary, and a member with an error': [
      'not now',
      `${NO_PRIMARY}: code EAI_AGAIN`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown'],
      ['Unknown', coded('EAI_AGAIN')],
    ],
    'no primary': ['not now', NO_PRIMARY, 'ReplicaSetNoPrimary', ['RSSecondary']],
    'no primary, and a silent member': [
      'not now',
      `${NO_PRIMARY}: ${SILENT}`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown', slow],
    ],
  };
  for (const [what, [finding, message, type, ...described]] of Object.entries(rows)) {
    it(`is "${finding}" for ${what}`, () => {
      const explained = explain(new NoResponseError(), topologyOf(type, described), client);
      expect([explained.finding, explained.message]).to.deep.equal([finding, message]);
    });
  }

  it('names the SRV record if no server is known', () => {
    const reason = 'the SRV record was not resolved in time';
    const srv = new MongoClient('mongodb+srv://cluster.plants.example/');
    expect(explain(new NoResponseError(), undefined, srv).message).to.equal(reason);
    const found = coded('querySrv ENOTFOUND');
    expect(explain(found, undefined, srv).message).to.equal(found.message);
  });

  it('advises a direct connection if no member has a host of the connection string', () => {
    const topology = topologyOf('ReplicaSetNoPrimary', [['Unknown', coded('ENOTFOUND')]]);
    const tunnel = new MongoClient('mongodb://127.0.0.1:27017/');
    expect(explain(new NoResponseError(), topology, tunnel).message).to.match(
      /^code ENOTFOUND\. .* host0:27017: .* directConnection=true$/,
    );
  });

  it('does not change for errors that an administrator must fix', () => {
    const topology = topologyOf('Unknown', [['Unknown']]);
    const explained = explain(inHandshake(replied(18)), topology, client);
    expect(explained).to.include({ finding: 'credentials refused', message: WRONG });
  });
});
