import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openLogger } from '../../src/telemetry/logger.js';

/** What a log of this format has written when `info` and `debug` have returned. */
async function written(LOG_FORMAT: 'json' | 'pretty', LOG_LEVEL = 'info'): Promise<string> {
  const output = new PassThrough({ encoding: 'utf8' });
  const logger = await openLogger({ LOG_FORMAT, LOG_LEVEL }, output);
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

  it('is readable text that is written at once', async () => {
    expect(await written('pretty')).to.match(/INFO.*: .*listening.*\n.*port.*3000.*\n$/);
  });

  it('has the lines of the configured level', async () => {
    expect(await written('json', 'debug')).to.include('"debug"');
  });
});

describe('The log of the service', () => {
  for (const LOG_FORMAT of ['json', 'pretty'] as const) {
    it(`loses lines on a full disk, in the format ${LOG_FORMAT}`, async () => {
      const program = fileURLToPath(import.meta.resolve('../support/log-until-lost.js'));
      const disk = openSync('/dev/full', 'w');
      const service = fork(program, [LOG_FORMAT], { stdio: ['ignore', disk, 'inherit', 'ipc'] });
      try {
        const [lost] = await once(service, 'message');
        expect(lost).to.equal(1);
      } finally {
        service.kill('SIGKILL');
        closeSync(disk);
      }
    });
  }
});
