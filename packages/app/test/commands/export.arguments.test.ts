import { expect } from 'chai';
import { readExportArguments, resumeCommand } from '../../src/commands/export.js';
import { UsageError } from '../../src/commands/own-process.js';

describe('The arguments of an export', () => {
  for (const [line, expected] of [
    ['-', { file: undefined, after: undefined, limit: undefined }],
    ['a --after -7 --limit 3', { file: 'a', after: -7n, limit: 3 }],
    ['--after 7 a', { file: 'a', after: 7n, limit: undefined }],
    ['--after=-7', { file: undefined, after: -7n, limit: undefined }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readExportArguments(line.split(' '))).to.deep.equal(expected);
    });
  }

  for (const [line, problem] of [
    ['a b', 'export: expected one FILE'],
    ['--after', 'export: --after: expected a value'],
    ['--after --limit 3', 'export: --after: expected a value'],
    ['--after 1e3', 'export: --after: expected an id from -9223372036854775808 to'],
    ['--after 9223372036854775808', 'export: --after: expected an id from'],
    ['--limit 0', 'export: --limit: expected a number of 1 or more'],
  ] as const) {
    it(`are refused in '${line}'`, () => {
      expect(() => readExportArguments(line.split(' '))).to.throw(UsageError, problem);
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
