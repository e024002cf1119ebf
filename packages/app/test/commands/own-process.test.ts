import { rejects } from 'node:assert/strict';
import { openSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { writerTo } from '../../src/commands/own-process.js';
import { PlantFiles } from '../support/plant-files.js';

const LINES = ['{"id":-8,"name":"a"}\n{"id":-7,"name":"b"}\n', '{"id":9,"name":"ä"}\n'];

describe('Standard output', () => {
  const files = new PlantFiles();
  const outputTo = (path: string) => Object.assign(new PassThrough(), { fd: openSync(path, 'w') });

  after(() => files.remove());

  it('is a stream, whose errors are reported', async () => {
    const pipe = new PassThrough({ encoding: 'utf8' }).on('error', () => undefined);
    const write = writerTo(pipe);
    for (const lines of LINES) {
      await write(lines);
      expect(pipe.read()).to.equal(lines);
    }
    pipe.destroy(new Error('its reader is gone'));
    await rejects(write('a'), { code: 'ERR_STREAM_DESTROYED' });
  });

  it('is a file, which is written completely', async () => {
    const path = files.newPath();
    const write = writerTo(outputTo(path));
    for (const lines of LINES) await write(lines);
    expect(readFileSync(path, 'utf8')).to.equal(LINES.join(''));
    await rejects(writerTo(outputTo('/dev/full'))('a'), { code: 'ENOSPC' });
  });
});
