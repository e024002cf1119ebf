import { execFileSync } from 'node:child_process';
import { constants, openSync, readSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  OutcomeUnknownError,
  StoreUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import proxyAddress from 'proxy-addr';
import { openLog } from '../../src/telemetry/logger.js';
import { type Observer, type ObserverOptions, observe } from '../../src/telemetry/observer.js';
import { newFiles } from '../support/plant-files.js';

const NONE = { store: {}, verifier: {} };
const OUTAGES = [StoreUnavailableError, OutcomeUnknownError, TokenVerifierUnavailableError];

/** Resolves with the log of what observers receive, without the times. */
async function logOf(use: (observer: Observer) => void, options: ObserverOptions = NONE) {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => {
    const { time, ...entry } = JSON.parse(line);
    entries.push(entry);
  };
  const logger = await openLog({ LOG_FORMAT: 'json', LOG_LEVEL: 'debug' }, { write }, expect.fail);
  use(observe(logger, undefined, options));
  return entries;
}

const caused = (message: string, cause?: unknown) => new Error(message, { cause });

describe('The log line of a failed request', () => {
  const entriesOf = (cause: Error) =>
    logOf((observer) => observer({ type: 'request failed', requestId: 'a', error: 5030, cause }));
  const fields = { level: 'error', requestId: 'a', error: 5030, msg: 'a request failed' };

  it('shows the reason of an outage without a stack', async () => {
    for (const Outage of OUTAGES) {
      const entries = await entriesOf(new Outage('out of reach', { cause: caused('refused') }));
      expect(entries).to.deep.equal([{ ...fields, reason: 'out of reach: refused' }]);
    }
  });

  it('shows the stack of a bug', async () => {
    const [entry] = await entriesOf(new TypeError('a bug'));
    expect(entry).to.include(fields).and.to.have.nested.property('err.stack');
  });
});

describe('The log line of a response', () => {
  const response = { method: 'POST', durationMs: 1, client: 'a client', requestId: 'a' };

  for (const [what, level, errors] of [
    ['refuses the client', 'info', [4000, 4005, 4310, 5032]],
    ['succeeds, or another line shows its cause', 'debug', [undefined, 5000, 5030, 5031]],
  ] as const) {
    it(`has the level ${level} if it ${what}`, async () => {
      for (const error of errors) {
        const fields = { ...response, route: '/plants', status: 400, error };
        const request = new IncomingMessage(new Socket());
        const none = { refusal: undefined, parserError: undefined };
        const entries = await logOf((observer) =>
          observer({ type: 'request ended', ...fields, ...none, request }),
        );
        const expected = { ...fields, level, msg: 'responded' };
        expect(entries).to.deep.equal([JSON.parse(JSON.stringify(expected))]);
      }
    });
  }

  it('shows the refusal, and the address that the last trusted proxy names', async () => {
    for (const [forwarded, address, proxies] of [
      ['192.0.2.7', '10.0.0.9', undefined],
      ['192.0.2.7, 10.0.0.8', '192.0.2.7', '10.0.0.0/8'],
      // What the client claims is not what the proxy names.
      ['203.0.113.1, 192.0.2.7', '192.0.2.7', '10.0.0.0/8'],
      ['192.0.2.7:51234', '192.0.2.7', '10.0.0.0/8'],
      ['[2001:db8::7]:4711', '2001:db8::7', '10.0.0.0/8'],
      ['2001:db8::7', '2001:db8::7', '10.0.0.0/8'],
      ['secret:80', '10.0.0.9', '10.0.0.0/8'],
    ] as const) {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.9' });
      const request = new IncomingMessage(socket);
      request.headers['x-forwarded-for'] = forwarded;
      const refusal = 'the token has expired' as const;
      const refused = { ...response, route: '/plants', status: 401, error: 4011, refusal };
      const options = { ...NONE, TRUSTED_PROXIES: proxies && proxyAddress.compile(proxies) };
      const use = (observer: Observer) =>
        observer({ type: 'request ended', ...refused, parserError: undefined, request });
      const expected = { ...refused, address, level: 'info', msg: 'responded' };
      expect(await logOf(use, options), forwarded).to.deep.equal([expected]);
    }
  });
});

describe('The log line of an event', () => {
  it('begins with the variables to check, and shows the cause but no plant', async () => {
    const lost = new StoreUnavailableError('a, b is not reachable', { cause: caused('by b') });
    const noKeys = new TokenVerifierUnavailableError('out of reach', { cause: caused('why') });
    const use = (observer: Observer) => {
      observer({ type: 'store unreachable', error: lost });
      observer({ type: 'store reachable' });
      observer({ type: 'batch written', plants: 7, durationMs: 250 });
      observer({ type: 'store warning', message: 'no permission', command: 'db.grant()' });
      observer({ type: 'plant refused', id: 1n, code: 121, reason: 'the validator' });
      observer({ type: 'issuer reached' });
      observer({ type: 'issuer not reached', error: noKeys });
    };
    const options = { store: { variables: 'MONGODB_URI' }, verifier: { variables: 'JWKS_URL' } };
    expect(await logOf(use, options)).to.deep.equal([
      { level: 'warn', msg: 'MONGODB_URI: a, b is not reachable (by b)' },
      { level: 'info', msg: 'MONGODB_URI: the database is reachable' },
      { level: 'warn', command: 'db.grant()', msg: 'no permission' },
      { level: 'error', code: 121, reason: 'the validator', msg: 'the database refused a plant' },
      { level: 'warn', msg: 'JWKS_URL: out of reach (why)' },
    ]);
  });

  it('is omitted for a store that has no variables', async () => {
    const entries = await logOf((observer) => observer({ type: 'store reachable' }));
    expect(entries).to.deep.equal([]);
  });
});

/** What a log of this format has written when `info` and `debug` have returned. */
async function written(LOG_FORMAT: 'json' | 'pretty', LOG_LEVEL = 'info'): Promise<string> {
  const output = new PassThrough({ encoding: 'utf8' });
  const logger = await openLog({ LOG_FORMAT, LOG_LEVEL }, output, expect.fail);
  logger.info({ port: 3000 }, 'listening');
  logger.debug('a detail');
  return output.read();
}

describe('The log', () => {
  const { newPath } = newFiles();

  it('contains one JSON object per line, with level and ISO 8601 time', async () => {
    const line = await written('json');
    expect(line).to.match(/^[^\n]+\n$/);
    const { time, ...rest } = JSON.parse(line);
    expect(rest).to.deep.equal({ level: 'info', port: 3000, msg: 'listening' });
    expect(new Date(time).toISOString()).to.equal(time);
  });

  it('is written immediately, in the configured format and at the configured level', async () => {
    expect(await written('pretty')).to.match(/INFO.*: .*listening.*\n.*port.*3000.*\n$/);
    expect(await written('json', 'debug')).to.include('"debug"');
  });

  it('counts the lines that a full disk loses, in each format', async () => {
    // It is never closed: the log keeps writing to its descriptor, which another file could get.
    const disk = Object.assign(new PassThrough(), { fd: openSync('/dev/full', 'w') });
    for (const LOG_FORMAT of ['json', 'pretty'] as const) {
      let lost = 0;
      const logger = await openLog({ LOG_FORMAT, LOG_LEVEL: 'info' }, disk, () => {
        lost += 1;
      });
      // More than the log keeps.
      for (let line = 0; line < 100; line += 1) logger.info('x'.repeat(20_000));
      expect(lost, LOG_FORMAT).to.be.above(0);
    }
  });

  it('does not report lost lines if a reader that had stopped goes on and gets them all', async () => {
    const pipe = newPath();
    execFileSync('mkfifo', [pipe]);
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const stream = Object.assign(new PassThrough(), { fd });
    const logger = await openLog({ LOG_FORMAT: 'json', LOG_LEVEL: 'info' }, stream, expect.fail);
    // More than a pipe holds, and less than the log keeps.
    for (let line = 0; line < 10; line += 1) logger.info('x'.repeat(20_000));
    logger.info('the last of them');
    const buffer = Buffer.alloc(65_536);
    let text = '';
    const readUntil = async (end: string) => {
      while (!text.includes(end)) {
        try {
          text += buffer.toString('latin1', 0, readSync(fd, buffer));
        } catch {
          await new Promise(setImmediate);
        }
      }
    };
    await readUntil('the last of them');
    logger.info('the end');
    await readUntil('the end');
    expect(text).not.to.include('lost');
  });
});
