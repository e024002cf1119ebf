import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  importProgressText,
  openInput,
  readImportArguments,
  resumeCommand,
  sizeOf,
} from '../../src/commands/import.js';
import { UsageError } from '../../src/commands/own-process.js';
import { Command, stopAll } from '../support/in-process.js';
import {
  CLIENT,
  countsOf,
  nextLineOf,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
} from '../support/plant-files.js';

/** Settings that check a file without storing its plants. */
const MEMORY = { STORAGE: 'memory' };
const NONE = { stored: 0, taken: 0, invalid: 0, unavailable: 0, unknown: 0, failed: 0, blank: 0 };

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('The arguments of an import', () => {
  for (const [line, expected] of [
    ['', { file: undefined, rejects: undefined, fromLine: undefined }],
    ['--from-line 7 a --rejects r', { file: 'a', rejects: 'r', fromLine: 7 }],
    ['- --from-line=999999999999999', { file: undefined, rejects: undefined, fromLine: 1e15 - 1 }],
    ['-- --a', { file: '--a', rejects: undefined, fromLine: undefined }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readImportArguments(line === '' ? [] : line.split(' '))).to.deep.equal(expected);
    });
  }

  for (const [line, problem] of [
    ['--rejects --from-line 3', '--rejects: expected a value'],
    ['--from-line 1e3', '--from-line: expected a line number'],
    ['--from-line 1000000000000000', '--from-line: expected a line number'],
  ] as const) {
    it(`are refused in '${line}'`, () => {
      expect(() => readImportArguments(line.split(' '))).to.throw(UsageError, `import: ${problem}`);
    });
  }

  it('are quoted for a shell in the command that resumes the import', () => {
    const args = { file: "Peter's plants.ndjson", rejects: 'r.ndjson', fromLine: 1 };
    expect(resumeCommand(args, 1000)).to.equal(
      "plant-store import 'Peter'\\''s plants.ndjson' --rejects r.ndjson --from-line 1000",
    );
    const odd = { file: "Peter's\\\u001b[2J", rejects: undefined, fromLine: 1 };
    expect(resumeCommand(odd, 7)).to.equal(
      "plant-store import $'Peter\\'s\\\\\\x1b[2J' --from-line 7",
    );
    expect(resumeCommand({ file: undefined, rejects: undefined, fromLine: 1 }, 7)).to.equal(
      'plant-store import --from-line 7 < the same input',
    );
  });
});

describe('The input of an import', () => {
  const files = new PlantFiles();
  after(() => files.remove());

  it('is a file, whose size is known if it is a regular one', async () => {
    const input = await openInput(await files.write(['a line\n']), process);
    expect(sizeOf(input)).to.equal(7);
    expect(await text(input.stream)).to.equal('a line\n');
    const device = await openInput('/dev/null', process);
    expect(sizeOf(device)).to.equal(undefined);
    device.stream.destroy();
  });
});

describe('The progress of an import', () => {
  const progress = { pending: 0, retrying: 0, bytes: 3_000, nextLine: 40_001 };

  /** Returns the line after a second in which these lines have got an outcome. */
  function shown(outcomes: object, retrying = 0, size?: number): string {
    let now = 0;
    const source = { progress: { ...progress, retrying, outcomes: { ...NONE, ...outcomes } } };
    const text = importProgressText(source, size, () => now);
    now = 1_000;
    return text();
  }

  it('has plants, their speed, the lines that were not stored or are retried, and the next line', () => {
    expect(shown({ stored: 40_000 })).to.equal('40,000 plants, 40,000/s | --from-line 40001');
    const failed = { taken: 1000, invalid: 2, unavailable: 30, unknown: 399, failed: 1, blank: 5 };
    expect(shown(failed, 4000)).to.equal(
      '0 plants, 0/s, 1,432 not stored, 4,000 wait for the storage | --from-line 40001',
    );
  });

  it('has the percentage of a file and the time that is left', () => {
    for (const [size, share, left] of [
      [9_000, 33, '2 s'],
      [1_203_000, 0, '7 min'],
    ] as const) {
      expect(shown({ stored: 7 }, 0, size)).to.equal(
        `${share} % | 7 plants, 7/s, ${left} left | --from-line 40001`,
      );
    }
    expect(shown({}, 0, 3_000)).to.match(/^100 % \| .* 0 s left /);
  });
});

describe('plant-store import', () => {
  const files = new PlantFiles();
  after(() => files.remove());
  afterEach(stopAll);

  it('stores a file, writes the summary to standard output, and ends with 0', async () => {
    const it = startImport([await files.write(numbered(10))], MEMORY);
    expect(await it.ended).to.equal(0);
    expect(it.out).to.equal('stored: 10\n');
    expect(it.err).to.equal('');
  });

  it('ends with 1 when a line was not stored, and records the line so that it can be corrected and imported', async () => {
    const wrong = '{"id":9007199254741000,"name":null}';
    const file = await files.write([plantLine(1), `${wrong}\r\n`, '\r\n', plantLine(1), '[']);
    const rejected = files.newPath();
    const first = startImport([file, '--rejects', rejected], MEMORY);
    expect(await first.ended).to.equal(1);
    expect(first.out).to.equal('stored: 1\ntaken: 1\ninvalid: 2\n');
    const [invalid, taken, broken] = rejectsIn(rejected);
    expect(invalid).to.deep.equal({
      ...{ line: 2, error: 4005, message: 'name must be a string', text: wrong },
    });
    expect(taken).to.deep.include({ line: 4, error: 4006 });
    expect(broken).to.deep.include({ line: 5, error: 4004, text: '[' });

    const corrected = await files.write([invalid?.text?.replace('null', '"Monstera"') ?? '']);
    const second = startImport([corrected], MEMORY);
    expect(await second.ended).to.equal(0);
    expect(countsOf(second.out)).to.deep.equal({ stored: 1 });
  });

  it('skips the lines before --from-line, and appends to the rejects of earlier lines', async () => {
    const file = await files.write(['[]\n', '[]\n', plantLine(3), '{}\n']);
    const rejected = files.newPath();
    const before = `${JSON.stringify({ line: 1, error: 4005, message: 'a', text: '[]' })}\n`;
    writeFileSync(rejected, before);
    const it = startImport([file, '--from-line', '3', '--rejects', rejected], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(countsOf(it.out)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(readFileSync(rejected, 'utf8').replace(before, '')).to.match(/^\{"line":4,.*\}\n$/);
  });

  it('says that it continues after the rejects of an earlier import, whose lines are not stored', async () => {
    const file = await files.write([...numbered(3), '[]\n']);
    const rejected = files.newPath();
    expect(await startImport([file, '--rejects', rejected], MEMORY).ended).to.equal(1);
    const again = startImport([file, '--rejects', rejected, '--from-line', '1'], MEMORY);
    expect(await again.ended).to.equal(1);
    expect([again.out, again.err]).to.deep.equal([
      'stored: 0\n',
      `plant-store: import: ${rejected} has records of lines before 5 that were not stored. The import begins at line 5\n`,
    ]);
  });

  it('says that it reads standard input, on a terminal only', async () => {
    for (const isTTY of [true, false]) {
      const it = startImport([], MEMORY);
      Object.assign(it.stdin, { isTTY }).end(plantLine(1));
      expect(await it.ended).to.equal(0);
      expect(it.out).to.equal('stored: 1\n');
      const note = 'plant-store: import: reading standard input, up to Ctrl-D\n';
      expect(it.err).to.equal(isTTY ? note : '');
    }
  });

  it('accepts lines up to BODY_LIMIT, and prints the others without a file for them', async () => {
    const file = await files.write([plantLine(1), plantLine(10)]);
    const BODY_LIMIT = `${plantLine(1).length - 1}`;
    const it = startImport([file], { ...MEMORY, BODY_LIMIT });
    expect(await it.ended).to.equal(1);
    expect(countsOf(it.out)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(it.err).to.equal('line 2: 4003, the line is larger than the limit\n');
  });

  it('reports a file that it cannot write, and how to resume', async () => {
    const file = await files.write(['[]\n', plantLine(2)]);
    const it = startImport([file, '--rejects', '/dev/full'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/^plant-store: import: ENOSPC.*\n$/);
    expect(nextLineOf(it.out)).to.equal(1);
  });

  it('ends with 1 when --from-line is after the end', async () => {
    const file = await files.write(numbered(3));
    const it = startImport([file, '--from-line', '5'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.err).to.equal(
      'plant-store: import: line 5 is after the end of the input, which has 3 lines\n',
    );
    expect(await startImport([file, '--from-line', '4'], MEMORY).ended).to.equal(0);
    expect(await startImport(['/dev/null'], MEMORY).ended).to.equal(0);
  });

  it('stops at a signal, and shows how to resume', async () => {
    const file = await files.write(numbered(10));
    const it = startImport([file], MEMORY);
    expect(await it.stop()).to.equal(1);
    expect(it.err).to.equal(
      'SIGTERM: waiting for the plants in progress, at most 10 minutes. Another signal ends the import now\n',
    );
    expect(it.out).to.match(new RegExp(`\nTo resume: plant-store import ${file} --from-line 1\n$`));
  });

  it('is resumed where it began when it is stopped while it skips lines', async () => {
    const it = startImport([await files.write(numbered(10)), '--from-line', '7'], MEMORY);
    expect(await it.stop()).to.equal(1);
    expect(nextLineOf(it.out)).to.equal(7);
  });

  it('ends with 2, and stores nothing, with a token that is refused or does not permit creating plants', async () => {
    const file = await files.write(numbered(2));
    const ACCESS_TOKENS_FILE = files.newPath();
    writeFileSync(ACCESS_TOKENS_FILE, `${CLIENT.ACCESS_TOKEN_SHA256} reader [read plants]\n`);
    for (const [ACCESS_TOKEN, problem] of [
      ['a-secret', 'expected a token that the service accepts (the token is not known)'],
      [CLIENT.ACCESS_TOKEN, 'expected a token that permits creating plants'],
    ] as const) {
      const it = new Command(['import', file], { ...MEMORY, ACCESS_TOKEN, ACCESS_TOKENS_FILE });
      expect(await it.ended).to.equal(2);
      expect(it.out).to.equal('');
      expect(it.err).to.equal(
        `plant-store: invalid configuration:\n  ACCESS_TOKEN: ${problem}. Set it to another one\n`,
      );
    }
  });

  it('ends with 1 when the token cannot be verified now', async () => {
    const it = new Command(['import', '/dev/null'], {
      ...{ ...MEMORY, JWT_ISSUER: 'http://127.0.0.1:1', JWT_AUDIENCE: 'plants' },
      ACCESS_TOKEN: `${part({ alg: 'RS256', kid: '1', typ: 'at+jwt' })}.${part({})}.c2lnbmF0dXJl`,
    });
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/plant-store: JWT_ISSUER, JWKS_URL: /);
  });
});
