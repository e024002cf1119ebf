import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  OutcomeUnknownError,
  type StorageEvent,
  StorageUnavailableError,
  type TokenEvent,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import proxyAddress from 'proxy-addr';
import {
  type Observer,
  type ObserverOptions,
  observe,
  sentenceOf,
} from '../../src/telemetry/observer.js';
import { pino } from '../support/pino.js';

const NONE = { storage: {}, verifier: {} };
const [DEBUG, INFO, WARN, ERROR] = [20, 30, 40, 50] as const;

/** Returns the log of what observers receive. */
function logOf(use: (observer: Observer) => void, options: ObserverOptions = NONE) {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => entries.push(JSON.parse(line));
  use(
    observe(pino({ base: null, timestamp: false, level: 'debug' }, { write }), undefined, options),
  );
  return entries;
}

describe('The log entry of a failed request', () => {
  const entriesOf = (cause: Error) =>
    logOf(({ http }) => http.failed({ requestId: 'a', error: 5030, cause }));
  const fields = { level: ERROR, requestId: 'a', error: 5030, msg: 'a request failed' };

  for (const Outage of [
    StorageUnavailableError,
    OutcomeUnknownError,
    TokenVerifierUnavailableError,
  ]) {
    it(`has the reason of an outage, but no stack: ${Outage.name}`, () => {
      const entries = entriesOf(new Outage('out of reach', { cause: new Error('refused') }));
      expect(entries).to.deep.equal([{ ...fields, reason: 'out of reach: refused' }]);
    });
  }

  it('is the stack of a bug', () => {
    const [entry] = entriesOf(new TypeError('a bug'));
    expect(entry).to.include(fields).and.to.have.nested.property('err.stack');
  });
});

describe('The sentence about an error', () => {
  const error = (message: string, cause?: unknown) => new Error(message, { cause });

  for (const [what, cause, sentence] of [
    ['no cause', undefined, 'out of reach'],
    [
      'each message once, and no empty one',
      error('refused', error('', error('refused', error('by b')))),
      'out of reach (refused: by b)',
    ],
    [
      'no part of an earlier message',
      error('plants are refused: capped', error('capped')),
      'out of reach (plants are refused: capped)',
    ],
    [
      'several causes',
      new AggregateError([error('by a'), error('by b')], 'nowhere', { cause: error('first') }),
      'out of reach (nowhere: first: by a: by b)',
    ],
  ] as const) {
    it(`has ${what}`, () => {
      expect(sentenceOf(error('out of reach', cause), undefined)).to.equal(sentence);
    });
  }

  it('is that of any value', () => {
    expect(sentenceOf('a text', 'PLACE')).to.equal('PLACE: a text');
  });
});

describe('The log of a response', () => {
  const response = { method: 'POST', durationMs: 1, client: undefined, requestId: 'a' };

  for (const [what, level, errors, route, status] of [
    ['when the client was refused', INFO, [4000, 4005, 4310, 5032], '/plants', 400],
    ['for a 200', DEBUG, [undefined], '/plants', 200],
    ['for a probe while the service stops', DEBUG, [5032], '/readyz', 503],
    ['for a failure that has a line with its cause', DEBUG, [5000, 5030, 5031], '/plants', 503],
  ] as const) {
    it(`has the level ${level} ${what}`, () => {
      for (const error of errors) {
        const exchange = { ...response, route, status, error, refusal: undefined };
        const entries = logOf(({ http }) => http.ended({ ...exchange, request: undefined }));
        const [entry] = entries;
        expect(entries).to.have.length(1);
        expect(entry).to.include({ level, msg: 'responded', requestId: 'a', status });
        expect(entry?.error).to.equal(error);
      }
    });
  }

  for (const [what, forwarded, proxies, address] of [
    ['of the connection', '192.0.2.7', undefined, '10.0.0.9'],
    ['in front of several trusted proxies', '192.0.2.7, 10.0.0.8', '10.0.0.0/8', '192.0.2.7'],
    ['after a client that lies', '203.0.113.1, 192.0.2.7', '10.0.0.0/8', '192.0.2.7'],
  ] as const) {
    it(`has the address ${what}, and the reason of a refusal`, () => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.9' });
      const request = new IncomingMessage(socket);
      request.headers['x-forwarded-for'] = forwarded;
      const refused = { route: '/plants', status: 401, error: 4011, refusal: 'expired' as const };
      const options = { ...NONE, TRUSTED_PROXIES: proxies && proxyAddress.compile(proxies) };
      const [entry] = logOf(
        ({ http }) => http.ended({ ...response, ...refused, request }),
        options,
      );
      expect(entry).to.include({ address, refusal: 'expired' }).and.not.to.have.property('request');
    });
  }
});

describe('The log entry of an event', () => {
  const options = {
    storage: { variables: 'DATABASE_URL' },
    verifier: { variables: 'JWT_ISSUER, JWKS_URL' },
  };
  const cause = new Error('refused', { cause: new Error('by b') });
  const unreachable = new StorageUnavailableError('the database at a, b is not reachable', {
    cause,
  });
  const unfetched = new TokenVerifierUnavailableError('out of reach', { cause: new Error('why') });

  const storageEvents: readonly (readonly [StorageEvent, ...object[]])[] = [
    [
      { type: 'storage unreachable', error: unreachable },
      { level: WARN, msg: 'DATABASE_URL: the database at a, b is not reachable (refused: by b)' },
    ],
    [{ type: 'storage reachable' }, { level: INFO, msg: 'DATABASE_URL: the storage is reachable' }],
    [{ type: 'batch written', plants: 7, durationMs: 250 }],
    [
      {
        type: 'storage warning',
        message: 'permissions are missing',
        command: 'db.grantRolesToUser()',
      },
      { level: WARN, command: 'db.grantRolesToUser()', msg: 'permissions are missing' },
    ],
    [
      { type: 'plant refused', id: 1n, code: 121, reason: 'the validator' },
      { level: ERROR, code: 121, reason: 'the validator', msg: 'the database refused a plant' },
    ],
  ];
  const tokenEvents: readonly (readonly [TokenEvent, ...object[]])[] = [
    [{ type: 'issuer reached' }],
    [
      { type: 'issuer not reached', error: unfetched },
      { level: WARN, msg: 'JWT_ISSUER, JWKS_URL: out of reach (why)' },
    ],
  ];

  it('has the variables and the cause, but no plant', () => {
    for (const [event, ...expected] of storageEvents) {
      expect(
        logOf(({ storage }) => storage(event), options),
        event.type,
      ).to.deep.equal(expected);
    }
    for (const [event, ...expected] of tokenEvents) {
      expect(
        logOf(({ tokens }) => tokens(event), options),
        event.type,
      ).to.deep.equal(expected);
    }
  });

  it('is omitted for a storage within the process', () => {
    expect(logOf(({ storage }) => storage({ type: 'storage reachable' }))).to.deep.equal([]);
  });
});
