import {
  OutcomeUnknownError,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { pino } from 'pino';
import type { StorageEvent } from '../../src/telemetry/events.js';
import { Metrics } from '../../src/telemetry/metrics.js';
import { observe, sentenceOf } from '../../src/telemetry/observer.js';

const NONE = { storage: undefined, verifier: undefined };

function linesOf(variables: string | undefined, ...events: StorageEvent[]): string[] {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const { storage } = observe(logger, undefined, { ...NONE, storage: variables });
  for (const event of events) storage(event);
  return lines;
}

describe('The log entry of a failed request', () => {
  function entryOf(cause: Error): Record<string, unknown> {
    const entries: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => entries.push(JSON.parse(line)) });
    observe(logger, undefined, NONE).http.failed({ requestId: 'a', error: 5030, cause });
    return entries[0] ?? {};
  }

  for (const Outage of [
    StorageUnavailableError,
    OutcomeUnknownError,
    TokenVerifierUnavailableError,
  ]) {
    it(`has the reason but no stack after ${Outage.name}`, () => {
      const entry = entryOf(new Outage('out of reach', { cause: new Error('refused') }));
      expect(entry).to.include({ reason: 'out of reach: refused' }).and.not.to.have.property('err');
      expect(JSON.stringify(entry)).not.to.match(/\.[jt]s:\d/);
    });
  }

  it('is the stack of a bug', () => {
    const entry = entryOf(new TypeError('a bug'));
    expect(entry).to.have.nested.property('err.stack');
    expect(entry).to.include({ level: 50, msg: 'a request failed', requestId: 'a', error: 5030 });
  });
});

describe('The sentence about an error', () => {
  const sentence = (cause?: unknown) => sentenceOf(new Error('out of reach', { cause }), undefined);

  it('is its message when it has no cause, also for a value that is not an error', () => {
    expect(sentence()).to.equal('out of reach');
    expect(sentenceOf('out of reach', 'PLACE')).to.equal('PLACE: out of reach');
  });

  it('has each message of the chain once, and no empty one', () => {
    const root = new Error('refused', { cause: new Error('', { cause: new Error('by b') }) });
    expect(sentence(new Error('refused', { cause: root }))).to.equal(
      'out of reach (refused: by b)',
    );
  });

  it('has every message of several causes', () => {
    const causes = [new Error('by a'), new Error('by b')];
    const several = new AggregateError(causes, 'nowhere', { cause: new Error('first') });
    expect(sentence(several)).to.equal('out of reach (nowhere: first: by a: by b)');
  });

  it('reports that the cause has no message', () => {
    expect(sentence('a text')).to.equal('out of reach (no reason given)');
    expect(sentence(new Error(''))).to.equal('out of reach (no reason given)');
  });
});

describe('The log of a response', () => {
  function levelOf(status: number, error: number | undefined, route = '/plants'): unknown {
    const entries: Record<string, unknown>[] = [];
    const write = (line: string) => entries.push(JSON.parse(line));
    const { http } = observe(pino({ level: 'debug' }, { write }), undefined, NONE);
    const refusal = error === 4011 ? ('expired' as const) : undefined;
    const parts = {
      method: 'POST',
      route,
      status,
      error,
      durationMs: 1,
      client: undefined,
      refusal,
    };
    http.ended({ ...parts, requestId: 'a' });
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ msg: 'responded', requestId: 'a' });
    expect(entries[0]?.refusal).to.equal(refusal);
    return entries[0]?.level;
  }

  const INFO = 30;
  const DEBUG = 20;

  it('is an info line when the client was refused, so that its request id can be found', () => {
    for (const error of [4000, 4005, 4011, 4310]) expect(levelOf(400, error)).to.equal(INFO);
    expect(levelOf(503, 5032)).to.equal(INFO);
  });

  it('is a debug line for a 200, and for a failure that has a line with its cause', () => {
    expect(levelOf(200, undefined)).to.equal(DEBUG);
    for (const error of [5000, 5030, 5031]) expect(levelOf(503, error)).to.equal(DEBUG);
  });

  it('is a debug line for a readiness probe of a service that stops', () => {
    expect(levelOf(503, 5032, '/readyz')).to.equal(DEBUG);
  });
});

describe('The log line about the storage', () => {
  it('begins with the variable and has the cause', () => {
    const cause = new Error('refused', { cause: new Error('by b') });
    const error = new StorageUnavailableError('the database at a, b is not reachable', { cause });
    const events = [{ type: 'storage unreachable', error }, { type: 'storage reachable' }] as const;
    expect(linesOf('DATABASE_URL', ...events)).to.deep.equal([
      'DATABASE_URL: the database at a, b is not reachable (refused: by b)',
      'DATABASE_URL: the storage is reachable',
    ]);
  });

  it('is omitted for a storage within the process', () => {
    expect(linesOf(undefined, { type: 'storage reachable' })).to.deep.equal([]);
  });
});

describe('The log entry of a storage event', () => {
  function entriesOf(event: StorageEvent): Record<string, unknown>[] {
    const entries: Record<string, unknown>[] = [];
    const logger = pino(
      { base: null, timestamp: false },
      {
        write: (line: string) => entries.push(JSON.parse(line)),
      },
    );
    observe(logger, undefined, NONE).storage(event);
    return entries;
  }

  it('is omitted for a batch', () => {
    const batch = { plants: 7, durationMs: 250 };
    expect(entriesOf({ type: 'batch written', ...batch })).to.deep.equal([]);
  });

  it('is a warning with the command for an administrator', () => {
    const warning = { message: 'permissions are missing', command: 'db.grantRolesToUser()' };
    expect(entriesOf({ type: 'storage warning', ...warning })).to.deep.equal([
      { level: 40, command: 'db.grantRolesToUser()', msg: 'permissions are missing' },
    ]);
  });

  it('is an error, without the plant, when the database refused a plant', () => {
    const event = { type: 'plant refused', code: 121, reason: 'the validator' } as const;
    expect(entriesOf(event)).to.deep.equal([
      { level: 50, code: 121, reason: 'the validator', msg: 'the database refused a plant' },
    ]);
  });
});

describe('The observers count', () => {
  const silent = pino({ level: 'silent' });

  function counted() {
    const metrics = new Metrics();
    const { http, storage, tokens } = observe(silent, metrics, NONE);
    const value = async (series: string) => {
      const lines = (await metrics.text()).split('\n');
      return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length));
    };
    return { http, storage, tokens, value };
  }

  it('each request, from its beginning to its end', async () => {
    const { http, value } = counted();
    http.begun();
    expect(await value('http_server_active_requests')).to.equal(1);
    http.ended({
      ...{ method: 'POST', route: '/plants', status: 401, error: 4011, durationMs: 1 },
      ...{ requestId: 'a', client: undefined, refusal: 'expired' },
    });
    expect(await value('http_server_active_requests')).to.equal(0);
    expect(await value('plant_store_tokens_refused_total{reason="expired"}')).to.equal(1);
  });

  it('each event of the storage', async () => {
    const { storage, value } = counted();
    storage({ type: 'batch written', plants: 7, durationMs: 250 });
    expect(await value('plant_store_batch_size_sum')).to.equal(7);
    storage({ type: 'storage reachable' });
    expect(await value('plant_store_storage_reachable')).to.equal(1);
  });

  it('each event of the token verifier', async () => {
    const { tokens, value } = counted();
    const fetches = (result: string) => value(`plant_store_key_fetches_total{result="${result}"}`);
    const error = new TokenVerifierUnavailableError('out of reach');
    tokens({ type: 'issuer not reached', error });
    expect([await fetches('failure'), await fetches('success')]).to.deep.equal([1, 0]);
    tokens({ type: 'issuer reached' });
    expect([await fetches('failure'), await fetches('success')]).to.deep.equal([1, 1]);
  });
});

describe('The log line about the issuer', () => {
  it('is a warning that begins with the variables when its keys cannot be fetched', () => {
    const entries: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => entries.push(JSON.parse(line)) });
    const { tokens } = observe(logger, undefined, { ...NONE, verifier: 'JWT_ISSUER, JWKS_URL' });
    const error = new TokenVerifierUnavailableError('out of reach', { cause: new Error('why') });
    tokens({ type: 'issuer reached' });
    tokens({ type: 'issuer not reached', error });
    expect(entries.map(({ level, msg }) => ({ level, msg }))).to.deep.equal([
      { level: 40, msg: 'JWT_ISSUER, JWKS_URL: out of reach (why)' },
    ]);
  });
});
