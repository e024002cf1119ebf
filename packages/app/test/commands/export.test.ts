import { existsSync } from 'node:fs';
import { newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { readExportArguments, resumeCommand } from '../../src/commands/export.js';
import { stopAll } from '../support/in-process.js';
import { PlantFiles, startExport } from '../support/plant-files.js';

const NONE = { file: undefined, after: undefined, limit: undefined };
const { id: seven } = newPlant({ id: -7n, name: '' });

const UNREACHABLE = { MONGODB_URI: 'mongodb://127.0.0.1:1' };

describe('The arguments of an export', () => {
  for (const [line, expected] of [
    ['-', NONE],
    ['a --after -7 --limit 3', { file: 'a', after: -7n, limit: 3 }],
    ['--after=7 a', { ...NONE, file: 'a', after: 7n }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readExportArguments(line.split(' '))).to.deep.equal(expected);
    });
  }

  it('have what is left in the command that resumes the export', () => {
    const args = readExportArguments(['a file', '--after', '-7', '--limit', '10']);
    expect(resumeCommand(args, { plants: 3, last: seven })).to.equal(
      "plant-store export 'a file' --after -7 --limit 7",
    );
    expect(resumeCommand(NONE, { plants: 0, last: undefined })).to.equal('plant-store export');
  });
});

describe('plant-store export', () => {
  const files = new PlantFiles();

  after(() => files.remove());
  afterEach(stopAll);

  it('stops at a signal while the storage cannot be reached, and leaves no file', async () => {
    const file = files.newPath();
    const it = startExport([file], { ...UNREACHABLE, LOG_LEVEL: 'warn' });
    await it.printed(/MONGODB_URI: .*not reachable/);
    it.emit('SIGINT');
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/\nSIGINT: waiting for the lines in progress\n$/);
    expect(existsSync(`${file}.partial`)).to.equal(false);
  });

  it('ends with 1 and the reason at its time limit when the storage cannot be reached', async () => {
    const it = startExport([], { ...UNREACHABLE, REQUEST_DEADLINE_MS: '300' });
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/^plant-store: export: MONGODB_URI: .*\n$/);
  });
});
