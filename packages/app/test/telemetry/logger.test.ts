import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
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
  let service: ChildProcess;

  afterEach(() => {
    service.kill('SIGKILL');
  });

  /** Logs to this output until a line is lost. Resolves with the number of lost lines. */
  async function fill(LOG_FORMAT: 'json' | 'pretty', output: 'pipe' | number): Promise<number> {
    const program = fileURLToPath(import.meta.resolve('../support/log-until-lost.js'));
    service = fork(program, [LOG_FORMAT], { stdio: ['ignore', output, 'inherit', 'ipc'] });
    const [lost] = await once(service, 'message');
    return lost;
  }

  it('loses lines on a full disk', async () => {
    const disk = openSync('/dev/full', 'w');
    try {
      expect(await fill('json', disk)).to.equal(1);
    } finally {
      closeSync(disk);
    }
  });

  it('for people has the number of lost lines when its reader goes on', async () => {
    expect(await fill('pretty', 'pipe')).to.equal(1);
    let log = '';
    for await (const part of service.stdout?.setEncoding('utf8') ?? []) {
      log += part;
      if (log.includes('EAGAIN') && log.includes('lines of the log were lost')) break;
    }
    expect(stripVTControlCharacters(log)).to.match(/\blines\W+1\b/);
  });
});
