import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  openInput,
  progressText,
  readImportArguments,
  resumeCommand,
  sizeOf,
} from '../../src/commands/import.js';
import { result, stopAll } from '../support/in-process.js';
import {
  CLIENT,
  nextLineOf,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
} from '../support/plant-files.js';

/** Settings that check a file without storing its plants. */
const MEMORY = { STORAGE: 'memory' };
const NONE = { file: undefined, rejects: undefined, fromLine: undefined };

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('The arguments of an import', () => {
  for (const [line, expected] of [
    ['', NONE],
    ['--from-line 7 a --rejects r', { file: 'a', rejects: 'r', fromLine: 7 }],
    ['- --from-line=999999999999999', { ...NONE, fromLine: 1e15 - 1 }],
    ['-- --a', { ...NONE, file: '--a' }],
  ] as const) {
    it(`are read from '${line}'`, () => {
      expect(readImportArguments(line === '' ? [] : line.split(' '))).to.deep.equal(expected);
    });
  }

  for (const [args, expected] of [
    [{ ...NONE, file: "Peter's plants", rejects: 'r' }, "'Peter'\\''s plants' --rejects r"],
    [{ ...NONE, file: '\u001b[2J' }, "'\\x1b[2J'"],
  ] as const) {
    it(`are quoted for a shell in the command that resumes the import: ${expected}`, () => {
      expect(resumeCommand(args, 7)).to.equal(`plant-store import ${expected} --from-line 7`);
    });
  }
});

describe('The progress of an import', () => {
  const NO_FAILURE = {
    stored: 40_000,
    taken: 0,
    invalid: 0,
    unavailable: 0,
    unknown: 0,
    failed: 0,
  };
  const progress = { outcomes: NO_FAILURE, pending: 9, bytes: 3_000, nextLine: 40_001 };

  const failed = {
    ...NO_FAILURE,
    taken: 1000,
    invalid: 2,
    unavailable: 30,
    unknown: 399,
    failed: 1,
  };
  const later = { ...progress, outcomes: failed, bytes: 6_000 };

  for (const [size, first, second] of [
    [
      undefined,
      '40,000 plants, 0/s | --from-line 40001',
      '40,000 plants, 0/s, 1,432 not stored | --from-line 40001',
    ],
    [
      66_000,
      '4 % | 40,000 plants, 0/s | --from-line 40001',
      '9 % | 40,000 plants, 0/s, 1,432 not stored, 40 s left | --from-line 40001',
    ],
  ] as const) {
    it(`has the counts and the next line, for a file of ${size ?? 'unknown'} bytes`, () => {
      const source = { progress };
      let now = 0;
      const text = progressText(source, size, () => now);
      expect(text()).to.equal(first);
      now = 2_000;
      source.progress = later;
      expect(text()).to.equal(second);
    });
  }

  it('has plants a second, and minutes when many are left', () => {
    let now = 0;
    const source = { progress: { ...progress, bytes: 0, outcomes: { ...NO_FAILURE, stored: 0 } } };
    const text = progressText(source, 1_203_000, () => now);
    text();
    now = 2_000;
    source.progress = progress;
    expect(text()).to.equal('0 % | 40,000 plants, 20,000/s, 13 min left | --from-line 40001');
  });

  it('has no percentage when the size is not known', async () => {
    const input = await openInput('/dev/null', process);
    expect(sizeOf(input)).to.equal(undefined);
    input.stream.destroy();
  });
});

describe('plant-store import', () => {
  const files = new PlantFiles();
  after(() => files.remove());
  afterEach(stopAll);

  const imported = (args: readonly string[], env = {}) =>
    result(['import', ...args], { ...CLIENT, ...MEMORY, ...env });

  it('stores a file, writes the summary to standard output, and ends with 0', async () => {
    const expected = { code: 0, out: 'stored: 10\n', err: '' };
    expect(await imported([await files.write(numbered(10))])).to.deep.equal(expected);
    expect(await imported(['/dev/null'])).to.include({ code: 0 });
  });

  for (const isTTY of [true, false]) {
    it(`reads standard input, and reports so on a terminal: ${isTTY}`, async () => {
      const it = startImport([], MEMORY);
      Object.assign(it.stdin, { isTTY }).end(plantLine(1));
      expect(await it.ended).to.equal(0);
      const note = 'plant-store: import: reading standard input, up to Ctrl-D\n';
      expect([it.out, it.err]).to.deep.equal(['stored: 1\n', isTTY ? note : '']);
    });
  }

  it('ends with 1 when a line was not stored, and records the line so that it can be corrected and imported', async () => {
    const wrong = '{"id":9007199254741000,"name":null}';
    const file = await files.write([plantLine(1), `${wrong}\r\n`, '\r\n', plantLine(1), '[']);
    const rejected = files.newPath();
    const out = 'stored: 1\ntaken: 1\ninvalid: 2\n';
    expect(await imported([file, '--rejects', rejected])).to.deep.equal({ code: 1, out, err: '' });
    const [invalid, taken, broken] = rejectsIn(rejected);
    expect(invalid).to.deep.equal({
      ...{ line: 2, error: 4005, message: 'name must be a string', text: wrong },
    });
    expect(taken).to.deep.include({ line: 4, error: 4006 });
    expect(broken).to.deep.include({ line: 5, error: 4004, text: '[' });

    const corrected = await files.write([wrong.replace('null', '"Monstera"')]);
    expect(await imported([corrected])).to.include({ code: 0, out: 'stored: 1\n' });
  });

  it('continues after --from-line and after the rejects of an earlier import, whose lines are not stored', async () => {
    const file = await files.write(['[]\n', '[]\n', plantLine(3), '{}\n']);
    const rejected = files.newPath();
    const args = [file, '--rejects', rejected, '--from-line'];
    const out = 'stored: 1\ninvalid: 1\n';
    expect(await imported([...args, '3'])).to.deep.equal({ code: 1, out, err: '' });
    expect(rejectsIn(rejected).map(({ line }) => line)).to.deep.equal([4]);
    expect(await imported([...args, '1'])).to.deep.equal({
      code: 1,
      out: 'stored: 0\n',
      err: `plant-store: import: ${rejected} has records of lines before 5 that were not stored. The import begins at line 5\n`,
    });
  });

  it('accepts lines up to BODY_LIMIT, and prints the others without a file for them', async () => {
    const file = await files.write([plantLine(1), plantLine(10)]);
    const BODY_LIMIT = `${plantLine(1).length - 1}`;
    expect(await imported([file], { BODY_LIMIT })).to.deep.equal({
      ...{ code: 1, out: 'stored: 1\ninvalid: 1\n' },
      err: 'line 2: 4003, the line is larger than the limit\n',
    });
  });

  it('reports a file that it cannot write, and how to resume', async () => {
    const file = await files.write(['[]\n', plantLine(2)]);
    const { code, out, err } = await imported([file, '--rejects', '/dev/full']);
    expect([code, nextLineOf(out)]).to.deep.equal([1, 1]);
    expect(err).to.match(/^plant-store: import: ENOSPC.*\n$/);
  });

  it('ends with 1 when --from-line is after the end', async () => {
    const file = await files.write(numbered(3));
    const problem = 'line 5 is after the end of the input, which has 3 lines';
    expect(await imported([file, '--from-line', '5'])).to.deep.equal({
      ...{ code: 1, out: 'stored: 0\n', err: `plant-store: import: ${problem}\n` },
    });
    expect(await imported([file, '--from-line', '4'])).to.include({ code: 0 });
  });

  for (const [from, ...args] of [[1], [7, '--from-line', '7']] as const) {
    it(`stops at a signal, and shows how to resume from line ${from}`, async () => {
      const file = await files.write(numbered(10));
      const it = startImport([file, ...args], MEMORY);
      expect(await it.stop()).to.equal(1);
      expect(it.err).to.equal(
        'SIGTERM: waiting for the plants in progress, at most 10 minutes. Another signal ends the import now\n',
      );
      expect(it.out).to.match(
        new RegExp(`\nTo resume: plant-store import ${file} --from-line ${from}\n$`),
      );
    });
  }

  it('ends with 2, and stores nothing, with a token that is refused or does not permit creating plants', async () => {
    const file = await files.write(numbered(2));
    const ACCESS_TOKENS_FILE = files.newPath();
    writeFileSync(ACCESS_TOKENS_FILE, `${CLIENT.ACCESS_TOKEN_SHA256} reader [read plants]\n`);
    for (const [ACCESS_TOKEN, problem] of [
      ['a-secret', 'expected a token that the service accepts (the token is not known)'],
      [CLIENT.ACCESS_TOKEN, 'expected a token that permits creating plants'],
    ] as const) {
      const env = { ...MEMORY, ACCESS_TOKEN, ACCESS_TOKENS_FILE };
      expect(await result(['import', file], env)).to.deep.equal({
        ...{ code: 2, out: '' },
        err: `plant-store: invalid configuration:\n  ACCESS_TOKEN: ${problem}. Set it to another one\n`,
      });
    }
  });

  it('ends with 1 when the token cannot be verified now', async () => {
    const { code, err } = await result(['import', '/dev/null'], {
      ...{ ...MEMORY, JWT_ISSUER: 'http://127.0.0.1:1', JWT_AUDIENCE: 'plants' },
      ACCESS_TOKEN: `${part({ alg: 'RS256', kid: '1', typ: 'at+jwt' })}.${part({})}.c2lnbmF0dXJl`,
    });
    expect(code).to.equal(1);
    expect(err).to.match(/plant-store: JWT_ISSUER, JWKS_URL: /);
  });
});
