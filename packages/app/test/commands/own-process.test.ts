import { rejects } from 'node:assert/strict';
import { openSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { writerTo } from '../../src/commands/own-process.js';
import { newFiles } from '../support/plant-files.js';

describe('Standard output that is a file', () => {
  const { newPath } = newFiles();

  it('is written completely, or reports that it is full', async () => {
    const path = newPath();
    const outputTo = (file: string) =>
      writerTo(Object.assign(new PassThrough(), { fd: openSync(file, 'w') }));
    const write = outputTo(path);
    const texts = ['ä\n', 'x'.repeat(100_000), '\n'];
    for (const text of texts) await write(text);
    expect(readFileSync(path, 'utf8')).to.equal(texts.join(''));
    for (const text of texts) await rejects(outputTo('/dev/full')(text), { code: 'ENOSPC' });
  });
});
