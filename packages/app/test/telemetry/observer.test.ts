import {
  OutcomeUnknownError,
  type StorageEvent,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { pino } from 'pino';
import { observe } from '../../src/telemetry/observer.js';

const NONE = { storage: undefined, verifier: undefined };

function linesOf(variables: string | undefined, ...events: StorageEvent[]): string[] {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const { storage } = observe(logger, undefined, { ...NONE, storage: variables });
  for (const event of events) storage(event);
  return lines;
}

describe('What the log says of a failed request', () => {
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

describe('What the log says of the storage', () => {
  it('begins with the variable, and names the cause', () => {
    const cause = new Error('refused', { cause: new Error('by b') });
    const error = new StorageUnavailableError('the database at a, b is not reachable', { cause });
    const events = [{ type: 'storage unreachable', error }, { type: 'storage reachable' }] as const;
    expect(linesOf('DATABASE_URL', ...events)).to.deep.equal([
      'DATABASE_URL: the database at a, b is not reachable (refused: by b)',
      'DATABASE_URL: the storage is reachable',
    ]);
  });

  it('is nothing where a storage within the process is there', () => {
    expect(linesOf(undefined, { type: 'storage reachable' })).to.deep.equal([]);
  });
});
