import { expect } from 'chai';
import { pino } from 'pino';
import { RefusalLog } from '../../src/telemetry/refusal-log.js';

const MINUTE = 60_000;

describe('The reason of a refused token', () => {
  let now: number;
  let lines: Record<string, unknown>[];
  let log: RefusalLog;

  beforeEach(() => {
    now = 0;
    lines = [];
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    log = new RefusalLog(logger, () => now);
  });

  const refused = (requestId: string) => log.refused('expired', { requestId, client: undefined });

  it('is logged with the request id', () => {
    refused('a');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ msg: 'a token was refused', requestId: 'a', reason: 'expired' });
  });

  it('is logged at most once a minute, with the number of omitted lines', () => {
    for (let second = 0; second < 60; second += 1) {
      now = second * 1000;
      refused(`${second}`);
    }
    log.refused('audience', { requestId: 'other', client: undefined });
    now = MINUTE;
    refused('later');
    const logged = lines.map(({ requestId, suppressed }) => [requestId, suppressed]);
    expect(logged).to.deep.equal([
      ['0', 0],
      ['other', 0],
      ['later', 59],
    ]);
  });

  it('is logged once a minute by the clock of the process by default', () => {
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    log = new RefusalLog(logger);
    refused('a');
    refused('b');
    expect(lines.map(({ requestId }) => requestId)).to.deep.equal(['a']);
  });
});
