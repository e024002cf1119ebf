import {
  OutcomeUnknownError,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { StorageEvent } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { pino } from 'pino';
import { observe } from '../../src/telemetry/observer.js';

function linesOf(...events: StorageEvent[]): string[] {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const { storage } = observe(logger, undefined);
  for (const event of events) storage(event);
  return lines;
}

describe('What the log says of a failed request', () => {
  function entryOf(cause: Error): Record<string, unknown> {
    const entries: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => entries.push(JSON.parse(line)) });
    observe(logger, undefined).http.failed({ requestId: 'a', error: 5030, cause });
    return entries[0] ?? {};
  }

  for (const Outage of [
    StorageUnavailableError,
    OutcomeUnknownError,
    TokenVerifierUnavailableError,
  ]) {
    it(`is the reason and no stack after ${Outage.name}`, () => {
      const entry = entryOf(new Outage('out of reach', { cause: new Error('refused') }));
      expect(entry).to.include({ reason: 'out of reach: refused' }).and.not.to.have.property('err');
      expect(JSON.stringify(entry)).not.to.match(/\.[jt]s:\d/);
    });
  }

  it('is the stack of a bug', () => {
    expect(entryOf(new TypeError('a bug'))).to.have.nested.property('err.stack');
  });
});

describe('What the log says of the database', () => {
  const outage = { type: 'storage unreachable', hosts: ['a:1', 'b:2'] } as const;

  it('names the hosts and the cause when there is no server', () => {
    const cause = new Error('refused', { cause: new Error('by b') });
    expect(linesOf({ ...outage, reason: 'no server', cause })).to.deep.equal([
      'MONGODB_URI: the database at a:1, b:2 is not reachable (refused: by b)',
    ]);
  });

  it('names the cause when the credentials are refused', () => {
    const cause = new Error('the password is wrong');
    expect(linesOf({ ...outage, reason: 'credentials', cause })).to.deep.equal([
      'MONGODB_URI: the database at a:1, b:2 refuses the credentials (the password is wrong)',
    ]);
  });
});
