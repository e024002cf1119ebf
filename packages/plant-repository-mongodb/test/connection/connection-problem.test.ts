import { CertificateFolder } from '@plant-store/certificates';
import { NoResponseError } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { MongoMissingDependencyError, MongoNetworkError, MongoNetworkTimeoutError } from 'mongodb';
import { explainedError, topologyProblem } from '../../src/connection/connection-problem.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';

const coded = (code: unknown) => Object.assign(new Error(`code ${code}`), { code });
const optionsOf = (query = '') => createMongoClient(`mongodb://host0,host1/?${query}`).options;

const SILENT = 'the server does not respond';
const UNTRUSTED =
  'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority';
const CLOSED = 'the server closed the connection: it may';
const NEEDS_CERTIFICATE = `${CLOSED} require a client certificate in tlsCertificateKeyFile`;
const X509 = 'tls=true&authMechanism=MONGODB-X509';

function inHandshake(): Error {
  const error = new MongoNetworkError('it closed');
  error.addErrorLabel('HandshakeError');
  return error;
}

/** The tests of `check` show that real servers cause these errors. */
describe('Why connecting failed', () => {
  const missing = { cause: new Error('x'), dependencyName: 'zstd' };
  const waited = Object.assign(new Error('x'), { name: 'MongoWaitQueueTimeoutError' });
  const rows: readonly [problem: string, error: unknown, query?: string][] = [
    [UNTRUSTED, coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY')],
    [
      'the certificate of the server is for another host name',
      coded('ERR_TLS_CERT_ALTNAME_INVALID'),
    ],
    [
      'an option needs the package @mongodb-js/zstd, which is not installed',
      new MongoMissingDependencyError('x', missing),
    ],
    ['the server does not accept this authMechanism', coded(334)],
    [
      'the user name or the password is wrong, or authSource is not the database of the user',
      coded(8000),
    ],
    [
      'authMechanism=MONGODB-X509 needs a client certificate in tlsCertificateKeyFile',
      coded(18),
      X509,
    ],
    [
      'writes are not acknowledged in time: they are blocked, or no majority acknowledges them',
      coded(50),
    ],
    [SILENT, new NoResponseError()],
    [SILENT, waited],
    [SILENT, 'no error'],
    [NEEDS_CERTIFICATE, coded('ERR_SSL_TLSV13_ALERT_X'), 'tls=true'],
    [NEEDS_CERTIFICATE, inHandshake(), 'tls=true'],
    [`${CLOSED} require tls=true`, inHandshake()],
    ['the TLS handshake failed: the server may not use TLS', coded('ECONNRESET'), 'tls=true'],
    ['code ECONNRESET', coded('ECONNRESET')],
    ['it closed', new MongoNetworkError('it closed')],
  ];
  for (const [problem, error, query] of rows) {
    it(`is explained after ${error}, also as a cause: ${problem}`, () => {
      const within = new Error(error instanceof Error ? error.message : SILENT, { cause: error });
      for (const it of [error, within]) {
        expect(explainedError(it, optionsOf(query)).message).to.equal(problem);
      }
    });
  }

  it('is explained with the certificate of the client', async () => {
    const folder = await CertificateFolder.create();
    const explained = (error: Error, tlsCertificateKeyFile: string) =>
      explainedError(error, { ...optionsOf(X509), tlsCertificateKeyFile }).message;
    const valid = await folder.issue('valid.pem', { subject: 'CN=a' });
    const expired = await folder.issue('expired.pem', { subject: 'CN=a', expired: true });
    expect(explained(coded(18), valid)).to.equal(
      'no user of $external has the subject of the certificate in tlsCertificateKeyFile',
    );
    expect(explained(inHandshake(), expired)).to.equal(
      'the certificate in tlsCertificateKeyFile has expired',
    );
    for (const file of [valid, '/no/such/file']) {
      expect(explained(inHandshake(), file)).to.equal(
        `${CLOSED} not trust the certificate in tlsCertificateKeyFile`,
      );
    }
  });

  it('is otherwise explained by every message of the chain of causes, once, with the first code', () => {
    const cause = new Error('b', { cause: Object.assign(new Error('a'), { code: 'X' }) });
    const error = explainedError(new Error('a', { cause }), optionsOf());
    expect(error).to.include({ message: 'a: b', code: 'X' });
  });
});

describe('Why no known server takes writes', () => {
  const problem = (type: string, ...described: [type: string, error?: Error][]) => {
    const servers = new Map(
      described.map(([type, error = null], at) => [`host${at}:27017`, { type, error }]),
    );
    return topologyProblem({ type, servers }, optionsOf('replicaSet=garden'));
  };

  it('is that the server does not respond, before anything is known of the servers', () => {
    expect(problem('Unknown', ['Unknown'])).to.equal(SILENT);
  });

  it('is the error of the first server that could not be reached', () => {
    const expired = coded('CERT_HAS_EXPIRED');
    expect(problem('Unknown', ['Unknown'], ['Unknown', expired])).to.equal(
      'the certificate of the server has expired',
    );
    expect(problem('Unknown', ['Unknown', coded('ENOTFOUND')])).to.equal('code ENOTFOUND');
  });

  it('is that the only server is a secondary', () => {
    expect(problem('Single', ['RSSecondary'])).to.equal(
      'the server is a secondary: it accepts no writes',
    );
  });

  it('is a member whose name in the configuration of the set does not resolve', () => {
    for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
      const members: [string, Error?][] = [['RSSecondary'], ['Unknown'], ['Unknown', coded(code)]];
      expect(problem('ReplicaSetNoPrimary', ...members)).to.equal(
        'the name of host2:27017 in the configuration of the replica set does not resolve',
      );
    }
  });

  it('is that no server is of the replica set, or that it is not initiated', () => {
    expect(problem('ReplicaSetNoPrimary')).to.equal('no host belongs to the replica set garden');
    expect(problem('Unknown', ['Unknown'], ['RSGhost'])).to.equal(
      'the replica set is not initiated: run rs.initiate()',
    );
  });

  it('is that the replica set has no primary, with the error of a member', () => {
    const lost = new Error('connection lost');
    expect(problem('ReplicaSetNoPrimary', ['RSSecondary'], ['Unknown', lost])).to.equal(
      'the replica set has no primary: connection lost',
    );
    const slow = new MongoNetworkTimeoutError("Socket 'connect' timed out after 1999ms");
    expect(problem('ReplicaSetNoPrimary', ['RSSecondary'], ['Unknown', slow])).to.equal(
      'the replica set has no primary: the server does not respond',
    );
  });
});
