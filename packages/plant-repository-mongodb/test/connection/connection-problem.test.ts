import { expect } from 'chai';
import { MongoNetworkError } from 'mongodb';
import { explainedError, topologyProblem } from '../../src/connection/connection-problem.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';

const coded = (code: unknown) => Object.assign(new Error(`code ${code}`), { code });
const optionsOf = (query = '') => createMongoClient(`mongodb://host0,host1/?${query}`).options;

const SILENT = 'the server does not respond';

/** The tests of `check` cause most of these sentences with real servers. */
describe('Why connecting failed', () => {
  const rows: [what: string, error: unknown, query: string, problem: RegExp][] = [
    ['a certificate without an issuer', coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), '', /trusted/],
    ['a refused password on Atlas', coded(8000), '', /password is wrong/],
    ['a write that the server ended', coded(50), '', /^a write is not acknowledged in time/],
    [
      'an expired signal',
      new DOMException('x', 'TimeoutError'),
      '',
      /^the server does not respond$/,
    ],
    ['a TLS alert', coded('ERR_SSL_TLSV13_ALERT_X'), 'tls=true', /a client certificate/],
    ['a reset of the TLS handshake', coded('ECONNRESET'), 'tls=true', /may not use TLS/],
    ['a reset', coded('ECONNRESET'), '', /^code ECONNRESET$/],
    ['an end after the handshake', new MongoNetworkError('it closed'), '', /^it closed$/],
    ['what is no error', 'x', '', /^the server does not respond$/],
  ];
  for (const [what, error, query, problem] of rows) {
    it(`is explained, also as a cause: ${what}`, () => {
      const within = new Error(error instanceof Error ? error.message : SILENT, { cause: error });
      for (const it of [error, within]) {
        expect(explainedError(it, optionsOf(query)).message).to.match(problem);
      }
    });
  }

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
    expect(problem('Unknown', ['Unknown'], ['Unknown', expired])).to.include('has expired');
    expect(problem('Unknown', ['Unknown', coded('ENOTFOUND')])).to.equal('code ENOTFOUND');
  });

  it('is that the only server is a secondary', () => {
    expect(problem('Single', ['RSSecondary'])).to.include('is a secondary');
  });

  it('is a member whose name in the configuration of the set does not resolve', () => {
    const members: [string, Error?][] = [
      ['RSSecondary'],
      ['Unknown'],
      ['Unknown', coded('ENOTFOUND')],
    ];
    expect(problem('ReplicaSetNoPrimary', ...members)).to.equal(
      'the name of host2:27017 in the configuration of the replica set does not resolve',
    );
  });

  it('is that the replica set has no primary, with the error of a member', () => {
    const lost = new Error('connection lost');
    expect(problem('ReplicaSetNoPrimary', ['RSSecondary'], ['Unknown', lost])).to.equal(
      'the replica set has no primary: connection lost',
    );
  });
});
