import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import { type Command, result, stopAll } from './support/in-process.js';
import {
  CLIENT,
  countsOf,
  ID_BEFORE,
  newFiles,
  numbered,
  plantLine,
  rejectsIn,
  startExport,
  startImport,
  storesAfter,
} from './support/plant-files.js';

const LINES = 2_000;
/** Every line with a multiple of this number is invalid. */
const INVALID_EVERY = 250;
/** More plants than two pages, of which an export reads one ahead. */
const EXPORTED = 20_001;
/** Longer than the driver waits for a primary, so that every command must try again. */
const ELECTION_MS = 3_000;

const isBroken = (line: number) => line % INVALID_EVERY === 0;
const lineOf = (line: number) => (isBroken(line) ? `{"id":${line}}\n` : plantLine(line));

describe('With three nodes of which the primary is killed,', function () {
  this.timeout(120_000);
  const { newPath, write } = newFiles();
  let set: ReplicaSet;
  let imported: Command;
  let exported: Command;
  const uriOf = (database: string) => ({ MONGODB_URI: set.uri.replace('/?', `/${database}?`) });

  before(needsMongod);

  /** Begins everything before the kill; the import has its second half to read, and the export pages to read. */
  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: ELECTION_MS });
    expect(await startImport([write(numbered(EXPORTED))], uriOf('exported')).ended).to.equal(0);
    exported = startExport([], uriOf('exported'));
    await exported.printed(/^\{/);
    exported.stdout.pause();
    const file = newPath();
    execFileSync('mkfifo', [file]);
    imported = startImport([file], uriOf('imported'));
    const lines = createWriteStream(file);
    const all = numbered(LINES, lineOf);
    lines.write(all.slice(0, LINES / 2).join(''));
    await storesAfter(`${ID_BEFORE}`, imported, uriOf('imported'));
    await (await set.primary()).kill();
    expect(exported.out.split('\n').length, 'exported before the kill').to.be.below(EXPORTED);
    lines.end(all.slice(LINES / 2).join(''));
    exported.stdout.resume();
  });

  after(async () => {
    await stopAll();
    await set?.stop();
  });

  it('import reports the outcome of every line', async () => {
    expect(await imported.ended, imported.err).to.equal(1);
    const { stored = 0, 4005: invalid, 5031: unknown = 0, ...others } = countsOf(imported.err);
    expect(others).to.deep.equal({});
    expect(invalid).to.equal(LINES / INVALID_EVERY);
    expect(stored + unknown).to.equal(LINES - LINES / INVALID_EVERY);
    const reported = new Map(rejectsIn(imported.out).map(({ line, error }) => [line, error]));
    const { out } = await result(['export'], { ...CLIENT, ...uriOf('imported') });
    const plants = new Set(out.match(/^.+\n/gm));
    for (let line = 1; line <= LINES; line += 1) {
      const error = reported.get(line);
      expect(error, `line ${line}`).to.be.oneOf(isBroken(line) ? [4005] : [undefined, 5031]);
      if (error === 5031) continue;
      expect(plants.has(plantLine(line)), `line ${line}`).to.equal(error === undefined);
    }
    expect(plants.size).to.be.within(stored, stored + unknown);
  });

  it('export has each plant once, in the order of the ids', async () => {
    expect(await exported.ended, exported.err).to.equal(0);
    expect(exported.out === numbered(EXPORTED).join('')).to.equal(true);
  });
});
