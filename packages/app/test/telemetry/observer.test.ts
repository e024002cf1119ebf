import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  OutcomeUnknownError,
  type StorageEvent,
  StorageUnavailableError,
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

const OUTAGES = [StorageUnavailableError, OutcomeUnknownError, TokenVerifierUnavailableError];
const NONE = { storage: {}, verifier: {} };

/** Returns the log of what observers receive. */
function logOf(use: (observer: Observer) => void, variables: ObserverOptions = NONE) {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => entries.push(JSON.parse(line));
  const options = { base: null, timestamp: false, level: 'debug' };
  use(observe(pino(options, { write }), undefined, variables));
  return entries;
}

describe('The log entry of a failed request', () => {
  function entryOf(cause: Error): Record<string, unknown> {
    const [entry = {}] = logOf(({ http }) => {
      http.failed({ requestId: 'a', error: 5030, cause });
    });
    return entry;
  }

  it('has the reason of an outage, but no stack', () => {
    for (const Outage of OUTAGES) {
      const entry = entryOf(new Outage('out of reach', { cause: new Error('refused') }));
      expect(entry).to.include({ reason: 'out of reach: refused' }).and.not.to.have.property('err');
      expect(JSON.stringify(entry)).not.to.match(/\.[jt]s:\d/);
    }
  });

  it('is the stack of a bug', () => {
    const entry = entryOf(new TypeError('a bug'));
    expect(entry).to.have.nested.property('err.stack');
    expect(entry).to.include({ level: 50, msg: 'a request failed', requestId: 'a', error: 5030 });
  });
});

describe('The sentence about an error', () => {
  const sentence = (cause?: unknown) => sentenceOf(new Error('out of reach', { cause }), undefined);

  it('has each message of the chain once, and no empty one', () => {
    const root = new Error('refused', { cause: new Error('', { cause: new Error('by b') }) });
    const causes = new Error('refused', { cause: root });
    expect(sentence(causes)).to.equal('out of reach (refused: by b)');
    expect(sentence()).to.equal('out of reach');
    expect(sentence(new Error(''))).to.equal('out of reach');
    const inner = new Error('plants are refused: capped', { cause: new Error('capped') });
    expect(sentence(inner)).to.equal('out of reach (plants are refused: capped)');
    expect(sentenceOf('a text', 'PLACE')).to.equal('PLACE: a text');
  });

  it('has every message of several causes', () => {
    const causes = [new Error('by a'), new Error('by b')];
    const several = new AggregateError(causes, 'nowhere', { cause: new Error('first') });
    expect(sentence(several)).to.equal('out of reach (nowhere: first: by a: by b)');
  });
});

describe('The log of a response', () => {
  const response = { method: 'POST', durationMs: 1, client: undefined, requestId: 'a' };

  function levelOf(status: number, error: number | undefined, route = '/plants'): unknown {
    const refusal = error === 4011 ? ('expired' as const) : undefined;
    const exchange = { ...response, route, status, error, refusal, request: undefined };
    const [entry, ...others] = logOf(({ http }) => http.ended(exchange));
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ msg: 'responded', requestId: 'a' });
    expect(entry?.refusal).to.equal(refusal);
    return entry?.level;
  }

  const INFO = 30;
  const DEBUG = 20;

  it('is an info line when the client was refused, so that its request id can be found', () => {
    for (const error of [4000, 4005, 4011, 4310]) expect(levelOf(400, error)).to.equal(INFO);
    expect(levelOf(503, 5032)).to.equal(INFO);
  });

  it('is a debug line for a 200, a probe while the service stops, and a failure that has a line with its cause', () => {
    expect(levelOf(200, undefined)).to.equal(DEBUG);
    expect(levelOf(503, 5032, '/readyz')).to.equal(DEBUG);
    for (const error of [5000, 5030, 5031]) expect(levelOf(503, error)).to.equal(DEBUG);
  });

  for (const [what, forwarded, proxies, address] of [
    ['of the connection', '192.0.2.7', undefined, '10.0.0.9'],
    ['in front of several trusted proxies', '192.0.2.7, 10.0.0.8', '10.0.0.0/8', '192.0.2.7'],
    ['after a client that lies', '203.0.113.1, 192.0.2.7', '10.0.0.0/8', '192.0.2.7'],
    ['of the proxy, when it names no address', 'secret', '10.0.0.0/8', '10.0.0.9'],
  ] as const) {
    it(`has the address ${what}`, () => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.9' });
      const request = new IncomingMessage(socket);
      request.headers['x-forwarded-for'] = forwarded;
      const refused = { route: '/plants', status: 401, error: 4011, refusal: undefined };
      const options = { ...NONE, TRUSTED_PROXIES: proxies && proxyAddress.compile(proxies) };
      const use = ({ http }: Observer) => http.ended({ ...response, ...refused, request });
      expect(logOf(use, options)[0]).to.include({ address }).and.not.to.have.property('request');
    });
  }
});

describe('The log entry of an event', () => {
  const options = {
    storage: { variables: 'DATABASE_URL' },
    verifier: { variables: 'JWT_ISSUER, JWKS_URL' },
  };
  const entriesOf = (...events: StorageEvent[]) =>
    logOf(({ storage }) => events.forEach(storage), options);

  it('of the storage begins with the variable and has the cause', () => {
    const cause = new Error('refused', { cause: new Error('by b') });
    const error = new StorageUnavailableError('the database at a, b is not reachable', { cause });
    const events = [{ type: 'storage unreachable', error }, { type: 'storage reachable' }] as const;
    expect(entriesOf(...events)).to.deep.equal([
      { level: 40, msg: 'DATABASE_URL: the database at a, b is not reachable (refused: by b)' },
      { level: 30, msg: 'DATABASE_URL: the storage is reachable' },
    ]);
  });

  it('is omitted for a storage within the process, and for a batch', () => {
    expect(logOf(({ storage }) => storage({ type: 'storage reachable' }))).to.deep.equal([]);
    expect(entriesOf({ type: 'batch written', plants: 7, durationMs: 250 })).to.deep.equal([]);
  });

  it('is a warning with the command for an administrator', () => {
    const warning = { message: 'permissions are missing', command: 'db.grantRolesToUser()' };
    expect(entriesOf({ type: 'storage warning', ...warning })).to.deep.equal([
      { level: 40, command: 'db.grantRolesToUser()', msg: 'permissions are missing' },
    ]);
  });

  it('is an error, without the plant, when the database refused a plant', () => {
    const event = { type: 'plant refused', id: 1n, code: 121, reason: 'the validator' } as const;
    expect(entriesOf(event)).to.deep.equal([
      { level: 50, code: 121, reason: 'the validator', msg: 'the database refused a plant' },
    ]);
  });

  it('of the issuer is a warning that begins with the variables when its keys cannot be fetched', () => {
    const error = new TokenVerifierUnavailableError('out of reach', { cause: new Error('why') });
    const entries = logOf(({ tokens }) => {
      tokens({ type: 'issuer reached' });
      tokens({ type: 'issuer not reached', error });
    }, options);
    expect(entries).to.deep.equal([{ level: 40, msg: 'JWT_ISSUER, JWKS_URL: out of reach (why)' }]);
  });
});
