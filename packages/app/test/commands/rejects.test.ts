import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { UsageError } from '../../src/commands/own-process.js';
import { RejectsFile, showFirst } from '../../src/commands/rejects.js';
import { PlantFiles } from '../support/plant-files.js';

const reject = (line: number, text = '{"id":1}') => ({
  ...{ line, error: 4005, message: 'name is required', text },
});
const record = (...args: Parameters<typeof reject>) => `${JSON.stringify(reject(...args))}\n`;
const INPUT = statSync(import.meta.filename);
const openFiles = () => readdirSync('/dev/fd').length;

describe('The file of rejects', () => {
  const files = new PlantFiles();
  let path: string;
  let openBefore: number;

  after(() => files.remove());

  beforeEach(() => {
    path = files.newPath();
    openBefore = openFiles();
  });

  afterEach(() => expect(openFiles()).to.be.at.most(openBefore));

  it('continues after its last record, of any length, without one that a crash has cut off', () => {
    const whole = record(1) + record(3, 'x'.repeat(200_000));
    for (const cut of ['', '{"line":4,"er', JSON.stringify(reject(4)), '\0'.repeat(100_000)]) {
      writeFileSync(path, whole + cut);
      const rejects = new RejectsFile(path, INPUT, true);
      expect(rejects.nextLine).to.equal(4);
      expect(rejects.record(reject(5))).to.equal(true);
      rejects.close();
      expect(readFileSync(path, 'utf8')).to.equal(whole + record(5));
    }
  });

  const fix = 'Name another file, or resume an import with --from-line, which appends to it';
  for (const [what, text, resumes, problem] of [
    ['that is not empty, for a new import', record(1), false, `is not empty. ${fix}`],
    ['with another line', `${record(3)}a note\n`, true, 'is not of an import. Name another file'],
    ['without a whole line', 'a note', true, 'is not of an import. Name another file'],
    ['with a note', `${record(3)}a note`, true, 'is not of an import. Name another file'],
  ] as const) {
    it(`is not a file ${what}, which stays as it is`, () => {
      writeFileSync(path, text);
      expect(() => new RejectsFile(path, INPUT, resumes)).to.throw(
        UsageError,
        `import: --rejects: ${path} ${problem}`,
      );
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }

  it('is begun again when a crash has cut off its first record', () => {
    writeFileSync(path, '{"line":4,"er');
    const rejects = new RejectsFile(path, INPUT, true);
    expect(rejects.nextLine).to.equal(1);
    rejects.close();
    expect(readFileSync(path, 'utf8')).to.equal('');
  });

  it('is another file than the imported one', () => {
    expect(() => new RejectsFile(import.meta.filename, INPUT, true)).to.throw(
      UsageError,
      `import: --rejects: ${import.meta.filename} is the file that is imported`,
    );
  });

  it('is in a folder in which files can be created', () => {
    const nowhere = `${files.folder}/gone/rejects.ndjson`;
    expect(() => new RejectsFile(nowhere, INPUT, true)).to.throw(
      UsageError,
      `import: --rejects: expected a file that can be written (ENOENT: no such file or directory, open '${nowhere}')`,
    );
  });
});

describe('Rejects without a file', () => {
  it('are printed, up to ten, and do not count as recorded', () => {
    const output = new PassThrough({ encoding: 'utf8' });
    const show = showFirst(output);
    for (let line = 1; line <= 12; line += 1) expect(show(reject(line))).to.equal(false);
    const [first, ...others] = `${output.read()}`.trimEnd().split('\n');
    expect(first).to.equal('line 1: 4005, name is required');
    expect(others).to.have.length(10);
    expect(others[9]).to.match(/^further lines are counted only/);
  });
});
