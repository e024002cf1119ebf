import { rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { PassThrough } from 'node:stream';
import { newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { openOutput } from '../../src/commands/export-output.js';
import { UsageError } from '../../src/commands/own-process.js';
import { PlantFiles } from '../support/plant-files.js';

const LINES = '{"id":-8,"name":"a"}\n{"id":-7,"name":"b"}\n';
const LAST = '{"id":9,"name":"ä"}\n';

describe('The output of an export', () => {
  const files = new PlantFiles();
  const seven = newPlant({ id: -7n, name: '' }).id;
  let path: string;
  const open = (after?: typeof seven, file: string | undefined = path) =>
    openOutput(file, after, new PassThrough());
  const refuses = (problem: string, after?: typeof seven, file?: string) =>
    rejects(open(after, file), new UsageError(`export: ${problem}`));

  function linked(): string {
    const target = files.newPath();
    writeFileSync(target, LINES);
    return target;
  }

  after(() => files.remove());

  beforeEach(() => {
    path = files.newPath();
  });

  it('is a file, which has its name when it is complete', async () => {
    const output = await open();
    for (const lines of [LINES, LAST]) await output.write(lines);
    expect(existsSync(path)).to.equal(false);
    await output.complete();
    expect(readFileSync(path, 'utf8')).to.equal(LINES + LAST);
    expect(existsSync(`${path}.partial`)).to.equal(false);
    await refuses(`${path} exists. Name another file`);
    for (const name of [files.folder, '/dev/null']) {
      await refuses(`${name} exists. Name another file`, undefined, name);
    }
  });

  for (const [what, make] of [
    ['a file of another program', (partial) => writeFileSync(partial, 'of another program\n')],
    ['a file without a whole line', (partial) => writeFileSync(partial, 'a note')],
    ['an export with a note', (partial) => writeFileSync(partial, `${LINES}a note`)],
    ['an empty file', (partial) => writeFileSync(partial, '')],
    ['a folder', (partial) => mkdirSync(partial)],
    ['a named pipe', (partial) => execFileSync('mkfifo', [partial])],
    ['a link to an export', (partial) => symlinkSync(linked(), partial)],
  ] as [string, (partial: string) => void][]) {
    it(`leaves ${what} in place of the partial file as it is`, async () => {
      const partial = `${path}.partial`;
      make(partial);
      const before = statSync(partial);
      for (const after of [undefined, seven]) {
        await refuses(`${partial} is not of an export. Rename it, or remove it`, after);
      }
      const { ino, size, mtimeMs } = statSync(partial);
      expect([ino, size, mtimeMs]).to.deep.equal([before.ino, before.size, before.mtimeMs]);
    });
  }

  it('leaves no file when nothing was written, or in no folder', async () => {
    expect(await (await open()).abandon()).to.equal(undefined);
    expect(existsSync(`${path}.partial`)).to.equal(false);
    const nowhere = `${path}/plants`;
    const reason = `ENOENT: no such file or directory, open '${nowhere}.partial'`;
    await refuses(`expected a file that can be written (${reason})`, undefined, nowhere);
  });

  it('is standard output otherwise: a stream, or a file that is written completely', async () => {
    const pipe = new PassThrough({ encoding: 'utf8' });
    const output = await openOutput(undefined, undefined, pipe);
    await output.write(LINES);
    expect(pipe.read()).to.equal(LINES);
    await output.complete();
    expect(await output.abandon()).to.equal(undefined);
    pipe.destroy(new Error('its reader is gone'));
    await rejects(output.write(LINES), { code: 'ERR_STREAM_DESTROYED' });
    const file = Object.assign(new PassThrough(), { fd: openSync(path, 'w') });
    const redirected = await openOutput(undefined, undefined, file);
    for (const lines of [LINES, LAST]) await redirected.write(lines);
    expect(readFileSync(path, 'utf8')).to.equal(LINES + LAST);
  });
});
