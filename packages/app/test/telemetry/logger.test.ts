import { openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { openLog } from '../../src/telemetry/logger.js';

/** What a log of this format has written when `info` and `debug` have returned. */
async function written(LOG_FORMAT: 'json' | 'pretty', LOG_LEVEL = 'info'): Promise<string> {
  const output = new PassThrough({ encoding: 'utf8' });
  const logger = await openLog({ LOG_FORMAT, LOG_LEVEL }, output, expect.fail);
  logger.info({ port: 3000 }, 'listening');
  logger.debug('a detail');
  return output.read();
}

describe('The log', () => {
  it('has one JSON object on each line, with the name of the level and the time in ISO 8601', async () => {
    const line = await written('json');
    expect(line).to.match(/^[^\n]+\n$/);
    const { time, ...rest } = JSON.parse(line);
    expect(rest).to.deep.equal({ level: 'info', port: 3000, msg: 'listening' });
    expect(new Date(time).toISOString()).to.equal(time);
  });

  it('is readable text that is written at once, with the lines of the configured level', async () => {
    expect(await written('pretty')).to.match(/INFO.*: .*listening.*\n.*port.*3000.*\n$/);
    expect(await written('json', 'debug')).to.include('"debug"');
  });

  it('loses lines on a full disk, in each format', async () => {
    // It is never closed: the log goes on writing to its number, which could become that of another file.
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
});
