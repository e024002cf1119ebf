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
