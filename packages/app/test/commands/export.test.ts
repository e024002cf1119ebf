import { existsSync, writeFileSync } from 'node:fs';
import { newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import {
  exportProgressText,
  readExportArguments,
  resumeCommand,
} from '../../src/commands/export.js';
import { UsageError } from '../../src/commands/own-process.js';
import { Command, stopAll } from '../support/in-process.js';
import { CLIENT, PlantFiles, startExport } from '../support/plant-files.js';

const MEMORY = { STORAGE: 'memory' };
const LAST = newPlant({ id: -7n, name: '' }).id;
const UNREACHABLE = { MONGODB_URI: 'mongodb://127.0.0.1:1' };

describe('The arguments of an export', () => {
  for (const [line, expected] of [
    ['-', { file: undefined, after: undefined, limit: undefined }],
    ['a --after -7 --limit 3', { file: 'a', after: -7n, limit: 3 }],
    ['--after=7 a', { file: 'a', after: 7n, limit: undefined }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readExportArguments(line.split(' '))).to.deep.equal(expected);
    });
  }

  for (const [line, problem] of [
    ['--after --limit 3', '--after: expected a value'],
    ['--after 1e3', '--after: expected an id from -9223372036854775808 to'],
    ['--after 9223372036854775808', '--after: expected an id from'],
    ['--limit 0', '--limit: expected a number of 1 or more'],
  ] as const) {
    it(`are refused in '${line}'`, () => {
      expect(() => readExportArguments(line.split(' '))).to.throw(UsageError, `export: ${problem}`);
    });
  }

  it('have what is left in the command that resumes the export', () => {
    const args = readExportArguments(['a file', '--after', '-7', '--limit', '10']);
    const progress = { plants: 3, last: args.after };
    expect(resumeCommand(args, progress)).to.equal(
      "plant-store export 'a file' --after -7 --limit 7",
    );
    const all = { file: undefined, after: undefined, limit: undefined };
    expect(resumeCommand(all, { plants: 0, last: undefined })).to.equal('plant-store export');
  });
});

describe('plant-store export', () => {
  const files = new PlantFiles();

  after(() => files.remove());
  afterEach(stopAll);

  it('shows how many plants it has written, how fast, and how to resume', () => {
    const text = exportProgressText({ progress: { plants: 40_000, last: LAST } });
    expect(text()).to.match(/^40,000 plants, [0-9,]+\/s \| --after -7$/);
  });

  it('stops at a signal while the storage cannot be reached, and leaves no file', async () => {
    const file = files.newPath();
    const it = startExport([file, '--after', '-7'], { ...UNREACHABLE, LOG_LEVEL: 'warn' });
    await it.reported(/MONGODB_URI: .*not reachable/);
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

  it('ends with 2 when the client may not read plants', async () => {
    const ACCESS_TOKENS_FILE = files.newPath();
    writeFileSync(ACCESS_TOKENS_FILE, `${CLIENT.ACCESS_TOKEN_SHA256} creator [create plants]\n`);
    const { ACCESS_TOKEN } = CLIENT;
    const it = new Command(['export'], { ...MEMORY, ACCESS_TOKEN, ACCESS_TOKENS_FILE });
    expect(await it.ended).to.equal(2);
    expect(it.err).to.match(/\n {2}ACCESS_TOKEN: expected a token that permits reading plants\./);
  });
});
