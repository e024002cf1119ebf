import { expect } from 'chai';
import { readImportArguments, resumeCommand } from '../../src/commands/import.js';
import { UsageError } from '../../src/commands/own-process.js';

describe('The arguments of an import', () => {
  for (const [line, expected] of [
    ['', { file: undefined, rejects: undefined, fromLine: undefined }],
    ['-', { file: undefined, rejects: undefined, fromLine: undefined }],
    ['--from-line 1 a.ndjson', { file: 'a.ndjson', rejects: undefined, fromLine: 1 }],
    ['--from-line 7 a --rejects r', { file: 'a', rejects: 'r', fromLine: 7 }],
    [
      '--from-line=999999999999999 --rejects=r',
      { file: undefined, rejects: 'r', fromLine: 999999999999999 },
    ],
    ['-- --a', { file: '--a', rejects: undefined, fromLine: undefined }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readImportArguments(line === '' ? [] : line.split(' '))).to.deep.equal(expected);
    });
  }

  for (const [line, problem] of [
    ['a b', "import: expected one FILE, found 'b' too"],
    ['--rejects --from-line 3', 'import: --rejects: expected a value'],
    ['--from-line 0', "import: --from-line: expected a line number of 1 or more, found '0'"],
    ['--from-line 1e3', "import: --from-line: expected a line number of 1 or more, found '1e3'"],
    [
      '--from-line 1000000000000000',
      "import: --from-line: expected a line number of 1 or more, found '1000000000000000'",
    ],
  ] as const) {
    it(`are refused in '${line}'`, () => {
      expect(() => readImportArguments(line.split(' '))).to.throw(UsageError, problem);
    });
  }

  it('are quoted for a shell in the command that resumes the import', () => {
    const args = { file: "Peter's plants.ndjson", rejects: 'r.ndjson', fromLine: 1 };
    expect(resumeCommand(args, 1000)).to.equal(
      "plant-store import 'Peter'\\''s plants.ndjson' --rejects r.ndjson --from-line 1000",
    );
    expect(resumeCommand({ file: undefined, rejects: undefined, fromLine: 1 }, 7)).to.equal(
      'plant-store import --from-line 7 < the same input',
    );
  });
});
