import { rejects } from 'node:assert/strict';
import { openSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { writerTo } from '../../src/commands/own-process.js';
import { result, stopAll } from '../support/in-process.js';
import {
  CLIENT,
  newFiles,
  numbered,
  plantLine,
  rejectsIn,
  startExport,
  startImport,
} from '../support/plant-files.js';

/** Settings that check a file without storing its plants. */
const MEMORY = { STORAGE: 'memory' };

const UNREACHABLE = { MONGODB_URI: 'mongodb://127.0.0.1:1' };

describe('plant-store import', () => {
  const { write } = newFiles();
  afterEach(stopAll);

  /** Without the progress that a slow import prints. */
  const imported = async (args: readonly string[], env = {}) => {
    const { err, ...rest } = await result(['import', ...args], { ...CLIENT, ...MEMORY, ...env });
    return { ...rest, err: err.replace(/^.* \| .*\n/gm, '') };
  };

  it('stores every plant of a file, prints counts to standard error, and exits with 0', async () => {
    const file = write(numbered(10));
    expect(await imported([file])).to.deep.equal({ code: 0, out: '', err: 'stored: 10\n' });
    expect(await imported(['/dev/null'])).to.include({ code: 0 });
  });

  it('prints text to standard error even with LOG_FORMAT=json', async () => {
    const command = startImport([write([plantLine(1)])], { ...UNREACHABLE, LOG_FORMAT: 'json' });
    await command.printed(/WARN.*MONGODB_URI: /);
    expect(await command.stop()).to.equal(1);
  });

  for (const [what, args] of [
    ['without arguments', []],
    ['if the file is "-"', ['-']],
  ] as const) {
    it(`reads standard input ${what}`, async () => {
      const command = startImport(args, MEMORY);
      command.stdin.end(plantLine(1));
      expect(await command.ended).to.equal(0);
      expect(command.out).to.equal('');
      expect(command.err).to.match(/^stored: 1\n$/m);
    });
  }

  it('exits with 1, and prints the rejected lines to standard output', async () => {
    const wrong = '{"id":9007199254741000,"name":null}';
    const file = write([plantLine(1), `${wrong}\n`, '\r\n', plantLine(1), '[']);
    const { code, out, err } = await imported([file]);
    expect([code, err]).to.deep.equal([1, 'stored: 1, 4005: 1, 4006: 1, 4004: 1\n']);
    const [invalid, taken, broken] = rejectsIn(out);
    expect(invalid).to.deep.equal({
      line: 2,
      error: 4005,
      message: 'name must be a string, not null',
      text: wrong,
    });
    expect(taken).to.deep.include({ line: 4, error: 4006 });
    expect(broken).to.deep.include({ line: 5, error: 4004, text: '[' });

    const corrected = write([wrong.replace('null', '"Monstera"')]);
    expect(await imported([corrected])).to.include({ code: 0, err: 'stored: 1\n' });
  });

  it('exits with 2 and stores nothing when the file has another format', async () => {
    const lines = numbered(3).map((line) => line.replace('\n', ',\n'));
    const { code, out, err } = await imported([write([...lines, plantLine(4)])]);
    expect([code, out]).to.deep.equal([2, '']);
    expect(err).to.match(
      /^plant-store: import: the input is not JSON: its first line must be a JSON object/,
    );
  });

  it('begins at --from-line, and refuses a line number after the end', async () => {
    const file = write(['[]\n', '[]\n', plantLine(3)]);
    expect(await imported([file, '--from-line', '3'])).to.include({ code: 0, err: 'stored: 1\n' });
    expect(await imported([file, '--from-line', '4'])).to.include({ code: 0, err: 'stored: 0\n' });
    const problem = "must be at most 4, because the input has 3 lines, got '5'";
    expect(await imported([file, '--from-line', '5'])).to.deep.equal({
      code: 2,
      out: '',
      err: `plant-store: import: --from-line ${problem}\n`,
    });
  });

  it('accepts lines up to BODY_LIMIT', async () => {
    const file = write([plantLine(1), plantLine(10)]);
    const BODY_LIMIT = `${plantLine(1).length - 1}`;
    expect(await imported([file], { BODY_LIMIT })).to.deep.equal({
      code: 1,
      err: 'stored: 1, 4003: 1\n',
      out: '{"line":2,"error":4003,"message":"the line is larger than the limit"}\n',
    });
  });

  for (const [file, problem] of [
    ['-- --help', 'ENOENT: no such file or directory'],
    ['/', 'EISDIR: illegal operation on a directory'],
  ] as const) {
    it(`exits with 1 if it cannot read its input: ${problem}`, async () => {
      const text = `plant-store: import: ${problem}. To resume: --from-line 1\n`;
      const args = file.split(' ');
      expect(await imported(args)).to.deep.equal({ code: 1, out: '', err: `stored: 0\n${text}` });
    });
  }

  it('stops on a signal, and prints how to resume', async () => {
    const command = startImport(['--from-line', '2'], MEMORY);
    command.stdin.write(`[]\n${plantLine(2)}[]\n`);
    await command.printed(/"line":3/);
    await new Promise(setImmediate);
    expect(await command.stop()).to.equal(1);
    const counts = 'stored: 1, 4005: 1';
    expect(command.err).to.equal(
      `${counts} | --from-line 4\nfinishing the work in progress; to stop now, send the signal again\n${counts}\nplant-store: import: stopped by SIGTERM. To resume: --from-line 4\n`,
    );
  });

  it('ends soon after a signal if the database was never reached', async () => {
    const command = startImport([write(numbered(5_000))], UNREACHABLE);
    await command.printed(/not reachable/);
    expect(await command.stop()).to.equal(1);
    expect(command.err).to.match(
      /\nstored: 0\n.*: stopped by SIGTERM. To resume: --from-line 1\n$/,
    );
    expect(command.out).to.equal('');
  });

  it('exits with 2 and stores nothing if its token is refused', async () => {
    const file = write(numbered(2));
    const ACCESS_TOKENS_FILE = write([`${CLIENT.ACCESS_TOKEN_SHA256} reader [read plants]\n`]);
    /** Resolves with how many timers there are after an import that this token does not permit. */
    const timersAfter = async (ACCESS_TOKEN: string, why: string) => {
      const env = { ...MEMORY, ACCESS_TOKENS_FILE, ACCESS_TOKEN };
      const err = `plant-store: invalid configuration:\n  ACCESS_TOKEN: this token is not accepted (${why}). Use another token\n`;
      expect(await result(['import', file], env)).to.deep.equal({ code: 2, out: '', err });
      return process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    };
    const before = await timersAfter('a-secret', 'the token is unknown');
    const why = 'the token lacks the permission to create plants';
    // A timer that is left would keep the process alive.
    expect(await timersAfter(CLIENT.ACCESS_TOKEN, why)).to.equal(before);
  });
});

describe('plant-store export', () => {
  afterEach(stopAll);

  it('stops on a signal during an outage, and prints how to resume', async () => {
    const args = ['--after', '-7', '--limit', '3'];
    const command = startExport(args, { ...UNREACHABLE, LOG_LEVEL: 'warn' });
    await command.printed(/MONGODB_URI: .*not reachable/);
    expect(await command.stop()).to.equal(1);
    expect(command.err).to.match(
      /\nexported: 0 \| --after -7 --limit 3\nfinishing.*\nexported: 0\nplant-store: export: stopped by SIGTERM. To resume: --after -7 --limit 3\n$/,
    );
  });

  it('exits with 1 and prints the reason if the database stays unreachable', async () => {
    const command = startExport([], { ...UNREACHABLE, REQUEST_DEADLINE_MS: '300' });
    expect(await command.ended).to.equal(1);
    expect(command.err).to.match(/^exported: 0\nplant-store: export: MONGODB_URI: .*\)\n$/);
  });
});

describe('Output to a file', () => {
  const { newPath } = newFiles();

  it('is complete, unless the disk is full and the command says so', async () => {
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
