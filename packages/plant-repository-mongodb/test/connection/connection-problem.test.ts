import { expect } from 'chai';
import { MongoNetworkError, MongoNetworkTimeoutError } from 'mongodb';
import {
  type ConnectionOptions,
  connectionProblem,
  explainedError,
  topologyProblem,
} from '../../src/connection/connection-problem.js';

const PLAIN = { tls: false, replicaSet: undefined, x509: false, clientCertificate: false };
const TLS = { ...PLAIN, tls: true };
const X509 = { ...TLS, x509: true };

const coded = (code: unknown) => Object.assign(new Error(`code ${code}`), { code });

function named(name: string): Error {
  return Object.assign(new Error('no word'), { name });
}

/** An error of the driver about a connection that ends in the handshake. */
function inHandshake(message: string): Error {
  const error = new MongoNetworkError(message);
  error.addErrorLabel('HandshakeError');
  return error;
}

const UNTRUSTED =
  'the certificate of the server is not trusted: tlsCAFile must name the certificate of its authority';
const SILENT = 'the server does not respond';
const NO_TLS = 'the server closed the connection: it may require tls=true';
const CERTIFICATE_MISSING =
  'the server closed the connection: it may require a client certificate in tlsCertificateKeyFile';
const CERTIFICATE_REFUSED =
  'the server closed the connection: it may not trust the certificate in tlsCertificateKeyFile';
const NOT_TLS = 'the TLS handshake failed: the server may not use TLS';
const PASSWORD =
  'the user name or the password is wrong, or authSource is not the database of the user';

describe('Why connecting failed', () => {
  const problems: [what: string, error: unknown, options: ConnectionOptions, problem: string][] = [
    ['SELF_SIGNED_CERT_IN_CHAIN', coded('SELF_SIGNED_CERT_IN_CHAIN'), TLS, UNTRUSTED],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), TLS, UNTRUSTED],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), TLS, UNTRUSTED],
    ['UNABLE_TO_GET_ISSUER_CERT', coded('UNABLE_TO_GET_ISSUER_CERT'), TLS, UNTRUSTED],
    [
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
      TLS,
      UNTRUSTED,
    ],
    [
      'CERT_HAS_EXPIRED',
      coded('CERT_HAS_EXPIRED'),
      TLS,
      'the certificate of the server has expired',
    ],
    [
      'CERT_NOT_YET_VALID',
      coded('CERT_NOT_YET_VALID'),
      TLS,
      'the certificate of the server is not valid yet',
    ],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      coded('ERR_TLS_CERT_ALTNAME_INVALID'),
      TLS,
      'the certificate of the server is for another host name',
    ],
    ['a refused password', coded(18), PLAIN, PASSWORD],
    ['an unknown user', coded(11), PLAIN, PASSWORD],
    ['a refused password on Atlas', coded(8000), PLAIN, PASSWORD],
    [
      'an unknown subject',
      coded(11),
      { ...X509, clientCertificate: true },
      'no user of $external has the subject of the certificate in tlsCertificateKeyFile',
    ],
    [
      'X.509 without a certificate',
      coded(18),
      X509,
      'authMechanism=MONGODB-X509 needs a client certificate in tlsCertificateKeyFile',
    ],
    ['another mechanism', coded(334), PLAIN, 'the server does not accept this authMechanism'],
    ["the driver's time-out", new MongoNetworkTimeoutError('x'), PLAIN, SILENT],
    ['an expired signal', named('TimeoutError'), TLS, SILENT],
    ['a wait for a connection', named('MongoWaitQueueTimeoutError'), TLS, SILENT],
    ['a TLS alert', coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), TLS, CERTIFICATE_MISSING],
    [
      'a TLS alert to a certificate',
      coded('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'),
      { ...TLS, clientCertificate: true },
      CERTIFICATE_REFUSED,
    ],
    ['an end without TLS', inHandshake('connection 1 to a:1 closed'), PLAIN, NO_TLS],
    ['a reset without TLS', inHandshake('read ECONNRESET'), PLAIN, NO_TLS],
    ['an end within TLS', inHandshake('connection 1 to a:1 closed'), TLS, CERTIFICATE_MISSING],
    ['a reset of the TLS handshake', coded('ECONNRESET'), TLS, NOT_TLS],
    ['bytes that are not TLS', coded('ERR_SSL_WRONG_VERSION_NUMBER'), TLS, NOT_TLS],
    ['a reset', coded('ECONNRESET'), PLAIN, 'code ECONNRESET'],
    ['an end after the handshake', new MongoNetworkError('it closed'), PLAIN, 'it closed'],
    ['another end of the handshake', inHandshake('it closed early'), PLAIN, 'it closed early'],
    ['what is no error', 'x', PLAIN, SILENT],
  ];

  for (const [what, error, options, problem] of problems) {
    it(`is explained: ${what}`, () => {
      expect(connectionProblem(error, options)).to.equal(problem);
      const cause = new Error('connecting failed', { cause: error });
      if (error instanceof Error && problem !== error.message) {
        expect(connectionProblem(cause, options)).to.equal(problem);
      }
    });
  }

  it('is otherwise explained by every message of the chain of causes, once', () => {
    const error = new Error('a', { cause: new Error('b', { cause: new Error('a') }) });
    expect(connectionProblem(error, PLAIN)).to.equal('a: b');
  });

  it('is reported with the first code of the chain of causes', () => {
    const error = new Error('a', { cause: coded('ENOTFOUND') });
    expect(explainedError(error, PLAIN)).to.include({
      code: 'ENOTFOUND',
      message: 'a: code ENOTFOUND',
    });
    expect(explainedError(new Error('a'), PLAIN)).to.include({ code: undefined, message: 'a' });
  });
});

describe('Why no known server takes writes', () => {
  const servers = (...described: [type: string, error?: Error][]) =>
    new Map(described.map(([type, error = null], index) => [`host${index}`, { type, error }]));

  const problem = (type: string, ...described: [type: string, error?: Error][]) =>
    topologyProblem({ type, servers: servers(...described) }, { ...PLAIN, replicaSet: 'garden' });

  it('is that the server does not respond, before anything is known of the servers', () => {
    expect(topologyProblem(undefined, PLAIN)).to.equal(SILENT);
    expect(problem('Unknown', ['Unknown'])).to.equal(SILENT);
  });

  it('is the error of the first server that could not be reached', () => {
    const refused = coded('CERT_HAS_EXPIRED');
    expect(problem('Unknown', ['Unknown'], ['Unknown', refused])).to.equal(
      'the certificate of the server has expired',
    );
  });

  it('is that no host belongs to the replica set', () => {
    expect(problem('ReplicaSetNoPrimary')).to.equal('no host belongs to the replica set garden');
  });

  it('is that the replica set is not initiated', () => {
    expect(problem('ReplicaSetNoPrimary', ['Unknown'], ['RSGhost'])).to.equal(
      'the replica set is not initiated: run rs.initiate()',
    );
  });

  it('is that the only server is a secondary', () => {
    expect(problem('Single', ['RSSecondary'])).to.equal(
      'the server is a secondary: it accepts no writes',
    );
  });

  it('is that the replica set has no primary, with the error of a member', () => {
    const lost = new Error('connection lost');
    expect(problem('ReplicaSetNoPrimary', ['RSSecondary'])).to.equal(
      'the replica set has no primary',
    );
    expect(problem('ReplicaSetNoPrimary', ['RSSecondary'], ['Unknown', lost])).to.equal(
      'the replica set has no primary: connection lost',
    );
  });
});
