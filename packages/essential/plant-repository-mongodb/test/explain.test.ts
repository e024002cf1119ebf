import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { MongoStoreError } from '@plant-store/plant-repository-mongodb';
import {
  MongoClient,
  type MongoError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoWriteConcernError,
  type ServerDescription,
} from 'mongodb';
import { explain, type Topology } from '../src/explain.js';
import type { MongoFinding } from '../src/mongo-store-error.js';

const SILENT = 'the server does not respond';
const NO_PRIMARY = 'the replica set has no primary';
const DENIED = 'the service is not logged in as a user who may read and insert plants';
const WRONG = 'the user name, the password, authSource or the client certificate is wrong';
const CLOSED = 'the server closed the connection: it may have no connection left, or require tls';
const ALERT =
  '80DC:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps/openssl/rec_layer_s3.c:1601:SSL alert number 116\n';

const { options } = new MongoClient('mongodb://host0:27017/');

const coded = (code: string) => Object.assign(new Error(`code ${code}`), { code });
const replied = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
/** The majority of the insert is missing. */
const unmet = (code: number) =>
  new MongoWriteConcernError({ ok: 1, writeConcernError: { code, errmsg: 'no' } } as never);

/** An error of the driver's handshake with a server, which includes the login. */
function inHandshake<E extends MongoError>(error: E): E {
  error.addErrorLabel('HandshakeError');
  return error;
}

/** An error of the driver's monitor or pool, with its cause. */
const because = (cause: Error) => new MongoNetworkError(cause.message, { cause });

describe('What an error means', () => {
  const quota = MongoStoreError.ofReply({ code: 8000, errmsg: 'over your quota' });
  const noJournal = MongoStoreError.ofReply({ code: 2, errmsg: 'no' });
  const late = new MongoNetworkTimeoutError('timed out after 1999ms');
  const ended = new MongoNetworkError('it closed');
  const alert = inHandshake(because(new Error(ALERT)));
  const missing = { cause: coded('MODULE_NOT_FOUND'), dependencyName: 'zstd' };
  type Row = readonly [finding: MongoFinding, message: string, error: unknown];
  const rows: Readonly<Record<string, Row>> = {
    'a missing package': ['unusable', 'zstd', new MongoMissingDependencyError('zstd', missing)],
    'a command that is too large': ['unusable', 'large', new MongoInvalidArgumentError('large')],
    'a database whose name differs in case': ['unusable', 'differs only in case', replied(13297)],
    'a missing permission': ['unusable', DENIED, replied(13)],
    'an invalid collection name': ['unusable', 'collection is invalid', replied(73)],
    'a server without a journal': ['unusable', 'it has no journal', noJournal],
    'an insert that Atlas refuses': ['unusable', 'error 8000: over your quota', quota],
    'a login that Atlas refuses': ['credentials refused', 'no', inHandshake(replied(8000))],
    'an unknown user': ['credentials refused', 'no', inHandshake(replied(11))],
    'a wrong password': ['credentials refused', WRONG, because(inHandshake(replied(18)))],
    'a server that shuts down': ['unknown', 'the server reports error 91', replied(91)],
    'an unmet write concern, whatever its code': ['unknown', 'error 8000', unmet(8000)],
    'a server that shuts down during a login': ['unreachable', 'no', inHandshake(replied(91))],
    'no response': ['no response', SILENT, new MongoStoreError('no response')],
    'no response on a connection': ['no response', SILENT, late],
    'something that is not an error': ['unreachable', SILENT, 'no error'],
    'an error without a message': ['unreachable', SILENT, new Error()],
    'a connection that is reset': ['unreachable', 'code ECONNRESET', because(coded('ECONNRESET'))],
    'a connection that is closed': ['unreachable', 'it closed', new MongoNetworkError('it closed')],
    'a handshake that the server ends': ['unreachable', CLOSED, because(inHandshake(ended))],
    'a TLS alert': ['unreachable', 'tlsv13 alert certificate required', alert],
  };
  for (const [what, [finding, message, error]] of Object.entries(rows)) {
    it(`is "${finding}" for ${what}`, () => {
      const explained = explain(error, undefined, options);
      equal(explained.finding, finding);
      ok(explained.message.includes(message), explained.message);
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
  const noResponse = new MongoStoreError('no response');
  const slow = new MongoNetworkTimeoutError("Socket 'connect' timed out after 1999ms");
  type Row = readonly [MongoFinding, string, Topology['type'], ...Described[]];
  const rows: Readonly<Record<string, Row>> = {
    'a silent host': ['no response', SILENT, 'Unknown', ['Unknown']],
    'hosts of another replica set': [
      'unreachable',
      'no host belongs to the replica set that replicaSet names',
      'Unknown',
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
      'unknown',
      'the replica set is not initiated: run rs.initiate()',
      'Unknown',
      ['RSGhost'],
    ],
    'a direct connection to a secondary': [
      'unknown',
      'the server is not a primary and does not accept writes',
      'Single',
      ['RSSecondary'],
    ],
    'no primary, and a member with an error': [
      'unknown',
      `${NO_PRIMARY}: code EAI_AGAIN`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown'],
      ['Unknown', coded('EAI_AGAIN')],
    ],
    'no primary': ['unknown', NO_PRIMARY, 'ReplicaSetNoPrimary', ['RSSecondary']],
    'no primary, and a silent member': [
      'unknown',
      `${NO_PRIMARY}: ${SILENT}`,
      'ReplicaSetNoPrimary',
      ['RSSecondary'],
      ['Unknown', slow],
    ],
  };
  for (const [what, [finding, message, type, ...described]] of Object.entries(rows)) {
    it(`is "${finding}" for ${what}`, () => {
      const explained = explain(noResponse, topologyOf(type, described), options);
      deepEqual([explained.finding, explained.message], [finding, message]);
    });
  }

  it('names the SRV record if no server is known', () => {
    const reason = 'the SRV record was not resolved in time';
    const { options: srv } = new MongoClient('mongodb+srv://cluster.plants.example/');
    equal(explain(noResponse, undefined, srv).message, reason);
    const found = coded('querySrv ENOTFOUND');
    equal(explain(found, undefined, srv).message, found.message);
  });

  it('advises a direct connection if no member has a host of the connection string', () => {
    const topology = topologyOf('ReplicaSetNoPrimary', [['Unknown', coded('ENOTFOUND')]]);
    const { options: tunnel } = new MongoClient('mongodb://127.0.0.1:27017/');
    const { message } = explain(noResponse, topology, tunnel);
    match(message, /^code ENOTFOUND\. .* host0:27017: .* directConnection=true$/);
  });

  it('does not change for errors that an administrator must fix', () => {
    const topology = topologyOf('Unknown', [['Unknown']]);
    for (const error of [inHandshake(replied(18)), new MongoInvalidArgumentError('too large')]) {
      equal(explain(error, topology, options).message, MongoStoreError.of(error).message);
    }
  });
});
