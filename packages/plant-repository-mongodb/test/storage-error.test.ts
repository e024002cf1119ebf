import { type Explanation, NoResponseError } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import {
  type MongoError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  type ServerDescription,
} from 'mongodb';
import { explain, insertError, storageError, type Topology } from '../src/storage-error.js';

const SILENT = 'the server does not respond';
const NO_PRIMARY = 'the replica set has no primary';
const DENIED = 'the service is not logged in as a user who may read and insert them';
const WRONG = 'the user name, the password, authSource or the client certificate is wrong';
const CLOSED =
  'the server closed the connection: it may require tls=true, or a client certificate (tlsCertificateKeyFile) that it trusts and that has not expired';
const ALERT =
  '80DC:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/openssl/rec_layer_s3.c:1601:SSL alert number 116\n';

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
  const rows: readonly [finding: Explanation['finding'], message: string, error: unknown][] = [
    ['slow', 'writes are not acknowledged in time', storageError('slow writes')],
    ['unusable', 'install zstd', new MongoMissingDependencyError('install zstd', missing)],
    ['unusable', 'too large', new MongoInvalidArgumentError('too large')],
    ['unusable', 'no', replied(13297)],
    ['unusable', 'no', replied(8000)],
    ['unusable', DENIED, replied(13)],
    [
      'unusable',
      'the server reports error 8000: over your quota',
      insertError({ code: 8000, errmsg: 'over your quota' }),
    ],
    ['credentials refused', 'no', inHandshake(replied(8000))],
    ['credentials refused', 'no', inHandshake(replied(11))],
    ['credentials refused', WRONG, because(inHandshake(replied(18)))],
    ['not now', 'no', replied(91)],
    ['no server', 'no', inHandshake(replied(91))],
    ['no server', SILENT, new NoResponseError()],
    ['no server', SILENT, new MongoNetworkTimeoutError('timed out after 1999ms')],
    ['no server', SILENT, 'no error'],
    ['no server', SILENT, new Error()],
    ['no server', 'code ECONNRESET', because(coded('ECONNRESET'))],
    ['no server', 'it closed', new MongoNetworkError('it closed')],
    ['no server', CLOSED, because(inHandshake(new MongoNetworkError('it closed')))],
    ['no server', 'tlsv13 alert certificate required', inHandshake(because(new Error(ALERT)))],
  ];
  for (const [finding, message, error] of rows) {
    it(`is "${finding}" for ${error instanceof Error ? error.name : error}: ${message}`, () => {
      const explained = explain(error, undefined, false);
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
  const rows: readonly [Explanation['finding'], string, Topology['type'], ...Described[]][] = [
    ['no server', SILENT, 'Unknown', ['Unknown']],
    ['no server', 'no host belongs to the replica set that replicaSet names', 'Unknown'],
    ['no server', 'code ENOTFOUND', 'Unknown', ['Unknown', coded('ENOTFOUND')]],
    [
      'no server',
      'code ENOTFOUND; code ECONNREFUSED',
      'ReplicaSetNoPrimary',
      ['Unknown', coded('ENOTFOUND')],
      ['Unknown', coded('ECONNREFUSED')],
      ['Unknown', coded('ENOTFOUND')],
    ],
    ['not now', 'the replica set is not initiated: run rs.initiate()', 'Unknown', ['RSGhost']],
    [
      'not now',
      'the server is not a primary and does not accept writes',
      'Single',
      ['RSSecondary'],
    ],
    [
      'not now',
      `${NO_PRIMARY}: code EAI_AGAIN`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown'],
      ['Unknown', coded('EAI_AGAIN')],
    ],
    ['not now', NO_PRIMARY, 'ReplicaSetNoPrimary', ['RSSecondary']],
    [
      'not now',
      `${NO_PRIMARY}: ${SILENT}`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown', slow],
    ],
  ];
  for (const [finding, message, type, ...described] of rows) {
    it(`is "${finding}": ${message}`, () => {
      const explained = explain(new NoResponseError(), topologyOf(type, described), false);
      expect([explained.finding, explained.message]).to.deep.equal([finding, message]);
    });
  }

  it('is that the SRV record was not found, without known servers', () => {
    const reason = 'the SRV record was not resolved in time';
    expect(explain(new NoResponseError(), undefined, true).message).to.equal(reason);
    const found = coded('querySrv ENOTFOUND');
    expect(explain(found, undefined, true).message).to.equal(found.message);
  });

  it('is as without them for what an administrator must correct', () => {
    const topology = topologyOf('Unknown', [['Unknown']]);
    const explained = explain(inHandshake(replied(18)), topology, false);
    expect(explained).to.include({ finding: 'credentials refused', message: WRONG });
  });
});
