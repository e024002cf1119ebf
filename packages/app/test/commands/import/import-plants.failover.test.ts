import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import {
  ACCESS_TOKEN_SHA256,
  endAll,
  type Running,
  run,
  TOKEN,
} from '@plant-store/service-process';
import { expect } from 'chai';
import {
  countsOf,
  KeptPlants,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
} from '../../plant-files.js';

/** The number of lines; `IMPORT_LINES` sets it. */
const LINES = Number(process.env.IMPORT_LINES ?? 100_000);
/** Every line with a multiple of this number is invalid. */
const INVALID_EVERY = 1000;
/** The limit for any number of lines. Node.js and the loaded code use 150 MiB of it. */
const MEMORY_MIB = 320;
const HEAP_MIB = 64;
const LOOK_EVERY_MS = 200;

/** Resolves with the largest resident set of a process, in MiB, when the process has ended. */
async function peakMemory({ child }: Running): Promise<number> {
  const ps = ['-o', 'rss=', '-p', `${child.pid}`];
  for (let peak = 0; ; await wait(LOOK_EVERY_MS)) {
    const kib = await promisify(execFile)('ps', ps).then(
      ({ stdout }) => Number(stdout),
      () => undefined,
    );
    if (kib === undefined) return peak;
    peak = Math.max(peak, kib / 1024);
  }
}

describe('With three nodes whose primary is killed', function () {
  this.timeout(120_000 + LINES);
  const files = new PlantFiles();
  let set: ReplicaSet;
  let kept: KeptPlants;

  before(needsMongod);

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: 2_000 });
    kept = new KeptPlants(set.uri.replace('/?', '/plants?'));
  });

  after(async () => {
    endAll();
    files.remove();
    await kept?.close();
    await set?.stop();
  });

  it('import reports the outcome of every line, with the same memory for any number of lines', async () => {
    const isBroken = (line: number) => line % INVALID_EVERY === 0;
    const lines = numbered(LINES, (line) =>
      isBroken(line) ? `{"id":${line}}\n` : plantLine(line),
    );
    const rejects = files.newPath();
    const it = startImport([await files.write(lines), '--rejects', rejects], {
      MONGODB_URI: set.uri.replace('/?', '/plants?'),
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    });
    const peak = peakMemory(it);
    await kept.reach(LINES / 3, it);
    const killed = await set.primary();
    await killed.kill();
    expect(await it.ended, it.stderr()).to.equal(1);

    const { stored = 0, invalid, unknown = 0, ...others } = countsOf(it);
    expect(others).to.deep.equal({});
    expect(invalid).to.equal(LINES / INVALID_EVERY);
    expect(stored + unknown).to.equal(LINES - LINES / INVALID_EVERY);
    const reported = new Map(rejectsIn(rejects).map(({ line, error }) => [line, error]));
    expect(reported.size).to.equal(LINES / INVALID_EVERY + unknown);
    const found = await kept.lines();
    for (let line = 1; line <= LINES; line += 1) {
      if (reported.get(line) === 5031) continue;
      expect(reported.has(line), `line ${line} is broken`).to.equal(isBroken(line));
      expect(found.has(line), `line ${line} is kept`).to.equal(!isBroken(line));
    }
    expect(await kept.count()).to.equal(found.size);
    expect(await peak).to.be.below(MEMORY_MIB);
    if (process.env.IMPORT_LINES !== undefined) {
      process.stdout.write(`${it.stdout()}peak: ${Math.round(await peak)} MiB\n`);
    }
    await killed.restart();
    await set.settled();
  });

  it('export has each plant once, in the order of the ids, in a small heap', async () => {
    const to = files.newPath();
    const it = run(['export', to], {
      MONGODB_URI: set.uri.replace('/?', '/plants?'),
      ...{ ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 },
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    });
    const partial = `${to}.partial`;
    while (!existsSync(partial) || statSync(partial).size === 0) await setImmediate();
    await (await set.primary()).kill();
    expect(existsSync(partial), 'the primary was killed in the middle').to.equal(true);
    expect(await it.ended, it.stderr()).to.equal(0);
    const stored = [...(await kept.lines())].sort((a, b) => a - b);
    expect(stored).to.have.lengthOf.above(0);
    expect(readFileSync(to, 'utf8') === stored.map(plantLine).join('')).to.equal(true);
  });
});
