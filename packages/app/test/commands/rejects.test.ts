import { readdirSync, readFileSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { UsageError } from '../../src/commands/own-process.js';
import { RejectsFile, showFirst } from '../../src/commands/rejects.js';
import { PlantFiles } from '../support/plant-files.js';

const reject = (line: number) => ({
  ...{ line, error: 4005, message: 'name is required', text: '{"id":1}' },
});

describe('The file of rejects', () => {
  const files = new PlantFiles();
  let path: string;
  let imported: string;
  let input: Stats;
  let openBefore: number;
  const openFiles = () => readdirSync('/dev/fd').length;

  after(() => files.remove());

  beforeEach(async () => {
    path = files.newPath();
    imported = await files.write(['{"id":1}\n']);
    input = statSync(imported);
    openBefore = openFiles();
  });

  afterEach(() => expect(openFiles()).to.be.at.most(openBefore));

  it('continues after its last record, without one that a crash has cut off', () => {
    const whole = [1, 3].map((line) => `${JSON.stringify(reject(line))}\n`).join('');
    for (const cut of ['', '{"line":4,"er', JSON.stringify(reject(4)), '\0'.repeat(100_000)]) {
      writeFileSync(path, whole + cut);
      const rejects = new RejectsFile(path, input, true);
      expect(rejects.nextLine).to.equal(4);
      expect(rejects.record(reject(5))).to.equal(true);
      rejects.close();
      expect(readFileSync(path, 'utf8')).to.equal(`${whole}${JSON.stringify(reject(5))}\n`);
    }
  });

  it('finds a last record of any length', () => {
    const long = { ...reject(7), text: 'x'.repeat(200_000) };
    writeFileSync(path, `${JSON.stringify(reject(3))}\n${JSON.stringify(long)}\n`);
    const rejects = new RejectsFile(path, input, true);
    expect(rejects.nextLine).to.equal(8);
    rejects.close();
  });

  const refuses = (problem: string, file = path, resumes = true) =>
    expect(() => new RejectsFile(file, input, resumes)).to.throw(
      UsageError,
      `import: --rejects: ${problem}`,
    );

  it('must be empty for a new import', () => {
    writeFileSync(path, 'before\n');
    const fix = 'Name another file, or resume an import with --from-line, which appends to it';
    refuses(`${path} is not empty. ${fix}`, path, false);
    expect(readFileSync(path, 'utf8')).to.equal('before\n');
  });

  it('must be of an import when it is resumed', () => {
    const record = `${JSON.stringify(reject(3))}\n`;
    for (const before of ['', record]) {
      for (const text of [`${before}a note\n`, `${before}a note without an end`]) {
        writeFileSync(path, text);
        refuses(`${path} is not of an import. Name another file`);
        expect(readFileSync(path, 'utf8')).to.equal(text);
      }
    }
  });

  it('must be another file than the imported one, in a folder in which files can be created', () => {
    refuses(`${imported} is the file that is imported`, imported);
    const nowhere = `${files.folder}/gone/rejects.ndjson`;
    const reason = `ENOENT: no such file or directory, open '${nowhere}'`;
    refuses(`expected a file that can be written (${reason})`, nowhere);
  });
});

describe('Rejects without a file', () => {
  it('are printed, up to ten, and do not count as recorded', () => {
    const output = new PassThrough({ encoding: 'utf8' });
    const show = showFirst(output);
    for (let line = 1; line <= 12; line += 1) expect(show(reject(line))).to.equal(false);
    const shown = `${output.read()}`.trimEnd().split('\n');
    expect(shown).to.have.length(11);
    expect(shown[0]).to.equal('line 1: 4005, name is required');
    expect(shown[10]).to.equal(
      'further lines are counted only. Use --rejects FILE to record each of them',
    );
  });
});
