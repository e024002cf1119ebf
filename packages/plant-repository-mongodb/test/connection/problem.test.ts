import { type Explanation, NoResponseError } from '@plant-store/plant-repository-group-commit';
import { certificates } from '@plant-store/test-servers/certificates';
import { expect } from 'chai';
import {
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  type ServerDescription,
} from 'mongodb';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { CollectionError, problemOf, ServerReplyError } from '../../src/connection/problem.js';

const SILENT = 'the server does not respond';
const NO_PRIMARY = 'the replica set has no primary';
const X509 = 'tls=true&authMechanism=MONGODB-X509';

const coded = (code: unknown) => Object.assign(new Error(`code ${code}`), { code });
const replied = (code: number) => new MongoServerError({ message: 'no', code, ok: 0 });
const optionsOf = (query = '') => createMongoClient(`mongodb://host0,host1/?${query}`).options;

type Row = [finding: Explanation['finding'], message: string, error: unknown, query?: string];

/** What real servers cause is in the test of `plant-store check` and of the credentials. */
describe('What an error means', () => {
  const missing = { cause: new Error('x'), dependencyName: 'zstd' };
  const rows: readonly Row[] = [
    ['slow', 'it lags', new CollectionError('it lags', 'slow')],
    [
      'unusable',
      'an option needs the package @mongodb-js/zstd, which is not installed',
      new MongoMissingDependencyError('x', missing),
    ],
    [
      'credentials refused',
      'the user name or the password is wrong, or authSource is not the database of the user',
      coded(8000),
    ],
    [
      'credentials refused',
      'authMechanism=MONGODB-X509 requires a client certificate in tlsCertificateKeyFile',
      coded(18),
      X509,
    ],
    [
      'no server',
      'the server certificate is not trusted: set tlsCAFile to the CA certificate',
      coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    ],
    ['unusable', 'no', replied(13297)],
    ['unusable', 'no', replied(8000)],
    [
      'unusable',
      'the server reports error 8000: over your quota',
      new ServerReplyError({ code: 8000, errmsg: 'over your quota' }),
    ],
    ['not now', 'no', replied(91)],
    ['no server', SILENT, new NoResponseError()],
    ['no server', SILENT, Object.assign(new Error('x'), { name: 'MongoWaitQueueTimeoutError' })],
    ['no server', SILENT, 'no error'],
    ['no server', 'code ECONNRESET', coded('ECONNRESET')],
    ['no server', 'it closed', new MongoNetworkError('it closed')],
  ];
  for (const [finding, message, error, query] of rows) {
    it(`is "${finding}" for ${error}: ${message}`, () => {
      const problem = problemOf(error, undefined, optionsOf(query));
      expect([problem.finding, problem.cause.message]).to.deep.equal([finding, message]);
    });
  }

  it('depends on the certificate of the client', () => {
    const cause = (error: Error, tlsCertificateKeyFile: string) =>
      problemOf(error, undefined, { ...optionsOf(X509), tlsCertificateKeyFile }).cause.message;
    const { client: valid, expired } = certificates;
    const closed = new MongoNetworkError('it closed');
    closed.addErrorLabel('HandshakeError');
    const untrusted =
      'the server closed the connection: it may not trust the certificate in tlsCertificateKeyFile';
    expect(cause(coded(18), valid)).to.include('no user in $external matches the subject');
    expect(cause(closed, expired)).to.include('tlsCertificateKeyFile has expired');
    expect(cause(closed, valid)).to.equal(untrusted);
    expect(cause(closed, '/no/such/file')).to.equal(untrusted);
  });

  it('follows from its causes, with every message once, and the first code', () => {
    const cause = new Error('b', { cause: coded('X') });
    const error = problemOf(new Error('code X', { cause }), undefined, optionsOf());
    expect(error.cause).to.include({ message: 'code X: b', code: 'X' });
    const wrapped = new Error('waited', { cause: coded(18) });
    expect(problemOf(wrapped, undefined, optionsOf()).finding).to.equal('credentials refused');
  });
});

type Described = readonly [type: ServerDescription['type'], error?: Error];

describe('What an error means while no known server accepts writes', () => {
  const slow = new MongoNetworkTimeoutError("Socket 'connect' timed out after 1999ms");
  const rows: readonly [Explanation['finding'], string, type: string, ...Described[]][] = [
    ['no server', SILENT, 'Unknown', ['Unknown']],
    ['no server', 'code ENOTFOUND', 'Unknown', ['Unknown', coded('ENOTFOUND')]],
    ['not now', 'the server is a secondary and does not accept writes', 'Single', ['RSSecondary']],
    [
      'not now',
      'the name of host2:27017 in the configuration of the replica set does not resolve',
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
      const servers = new Map(
        described.map(([type, error = null], at) => [
          `host${at}:27017`,
          { type, error, isWritable: false },
        ]),
      );
      const options = optionsOf('replicaSet=garden');
      const problem = problemOf(new NoResponseError(), { type, servers }, options);
      expect([problem.finding, problem.cause.message]).to.deep.equal([finding, message]);
    });
  }
});
