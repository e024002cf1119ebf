import { rejects } from 'node:assert/strict';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { newPlant, type PlantId } from '@plant-store/domain';
import { expect } from 'chai';
import { openOutput } from '../../src/commands/export-output.js';
import { UsageError } from '../../src/commands/own-process.js';
import { PlantFiles } from '../support/plant-files.js';

const LINES = '{"id":-8,"name":"a"}\n{"id":-7,"name":"b"}\n';
const LAST = '{"id":9,"name":"ä"}\n';
const seven = newPlant({ id: -7n, name: '' }).id;

describe('The output of an export', () => {
  const files = new PlantFiles();
  let path: string;
  const open = (file: string, after?: PlantId) => openOutput(file, after, new PassThrough());
  const refuses = (problem: string, file: string, after?: PlantId) =>
    rejects(open(file, after), new UsageError(`export: ${problem}`));

  after(() => files.remove());

  beforeEach(() => {
    path = files.newPath();
  });

  it('is a file, which has its name when it is complete', async () => {
    const output = await open(path);
    for (const lines of [LINES, LAST]) await output.write(lines);
    expect(existsSync(path)).to.equal(false);
    await output.complete();
    expect(readFileSync(path, 'utf8')).to.equal(LINES + LAST);
    expect(existsSync(`${path}.partial`)).to.equal(false);
    for (const name of [path, files.folder, '/dev/null']) {
      await refuses(`${name} exists. Name another file`, name);
    }
  });

  for (const text of ['of another program\n', '{"id":-7', '']) {
    it(`leaves a partial file as it is that has ${JSON.stringify(text)}`, async () => {
      const partial = `${path}.partial`;
      writeFileSync(partial, text);
      for (const after of [undefined, seven]) {
        await refuses(`${partial} is not of an export. Rename it, or remove it`, path, after);
      }
      expect(readFileSync(partial, 'utf8')).to.equal(text);
    });
  }

  it('is in a folder in which files can be created', async () => {
    const nowhere = `${path}/plants`;
    const reason = `ENOENT: no such file or directory, open '${nowhere}.partial'`;
    await refuses(`expected a file that can be written (${reason})`, nowhere);
  });

  it('is standard output otherwise: a stream, or a file that is written completely', async () => {
    const pipe = new PassThrough({ encoding: 'utf8' });
    const output = await openOutput(undefined, undefined, pipe);
    await output.write(LINES);
    expect(pipe.read()).to.equal(LINES);
    expect(await output.abandon()).to.equal(undefined);
    pipe.destroy(new Error('its reader is gone'));
    await rejects(output.write(LINES), { code: 'ERR_STREAM_DESTROYED' });
    const file = Object.assign(new PassThrough(), { fd: openSync(path, 'w') });
    const redirected = await openOutput(undefined, undefined, file);
    for (const lines of [LINES, LAST]) await redirected.write(lines);
    expect(readFileSync(path, 'utf8')).to.equal(LINES + LAST);
  });
});
