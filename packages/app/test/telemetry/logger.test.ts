import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openLogger, openServiceLogger } from '../../src/telemetry/logger.js';

const FORMATS = ['json', 'pretty'] as const;

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
  let folder: string;
  let fd: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });

  afterEach(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });

  /** Logs to the file until a line is lost. Returns a function that reads the number of lost lines. */
  async function fill(LOG_FORMAT: 'json' | 'pretty'): Promise<() => number> {
    let lost = 0;
    const output = Object.assign(new PassThrough(), { fd });
    const logger = await openServiceLogger({ LOG_FORMAT, LOG_LEVEL: 'info' }, output, () => {
      lost += 1;
    });
    // More than the pipe and the log keep.
    for (let line = 0; line < 100 && lost === 0; line += 1) {
      logger.info({ padding: 'x'.repeat(20_000) }, 'a line');
    }
    return () => lost;
  }

  for (const LOG_FORMAT of FORMATS) {
    it(`loses lines on a full disk, in the format ${LOG_FORMAT}`, async () => {
      fd = openSync('/dev/full', 'w');
      expect((await fill(LOG_FORMAT))()).to.equal(1);
    });

    it(`has the number of lost lines when its reader goes on, in the format ${LOG_FORMAT}`, async () => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      const lost = await fill(LOG_FORMAT);
      expect(lost()).to.equal(1);
      const part = Buffer.alloc(65_536);
      let log = '';
      while (!log.includes('EAGAIN') || !log.includes('lines of the log were lost')) {
        try {
          log += part.toString('latin1', 0, readSync(fd, part));
        } catch {
          await pause(10);
        }
      }
      expect(log).to.match(new RegExp(`\\blines\\W+(?:\\[\\d+m)?\\s?${lost()}\\b`));
    });
  }
});
