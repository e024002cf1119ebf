import { existsSync, readFileSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import { createPlant, endAll, run } from '@plant-store/service-process';
import { expect } from 'chai';
import { Command, serveHere, stopAll } from './in-process.js';
import {
  CLIENT,
  countsOf,
  KeptPlants,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startExport,
  startImport,
} from './plant-files.js';

/** The number of lines; `IMPORT_LINES` sets it. */
const LINES = Number(process.env.IMPORT_LINES ?? 30_000);
/** Every line with a multiple of this number is invalid. */
const INVALID_EVERY = 1000;
/** The limit for any number of lines. */
const HEAP_MIB = 64;
const CLIENTS = 10;

const { ACCESS_TOKEN_SHA256 } = CLIENT;
const isBroken = (line: number) => line % INVALID_EVERY === 0;

/** Each test begins with a set whose members are all running. */
describe('With three nodes', function () {
  this.timeout(120_000 + LINES);
  const files = new PlantFiles();
  let set: ReplicaSet;
  let kept: KeptPlants;
  let uri: string;

  before(needsMongod);

  before(async () => {
    set = await ReplicaSet.start({ members: 3, electionTimeoutMs: 2_000 });
    uri = set.uri.replace('/?', '/plants?');
    kept = new KeptPlants(uri);
  });

  afterEach(stopAll);
  afterEach(endAll);

  after(async () => {
    files.remove();
    await kept?.close();
    await set?.stop();
  });

  it('a direct connection to a secondary is not ready, with the reason', async () => {
    const primary = await set.primary();
    const secondary = set.members.find((member) => member !== primary);
    const check = new Command(['check'], { MONGODB_URI: `${secondary?.uri}`, ACCESS_TOKEN_SHA256 });
    expect(await check.ended).to.equal(1);
    expect(check.out).to.include('accepts no plants (the server is a secondary');
  });

  it('import reports the outcome of every line, and serve carries out every create, when the primary is killed', async () => {
    const lines = numbered(LINES, (line) =>
      isBroken(line) ? `{"id":${line}}\n` : plantLine(line),
    );
    const rejects = files.newPath();
    const file = await files.write(lines);
    const MONGODB_URI = set.uri.replace('/?', '/service?');
    const service = await serveHere({ MONGODB_URI, ACCESS_TOKEN_SHA256 });
    await service.printed(/the storage is reachable/);
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(200);
    const killed = await set.primary();
    const it = run(['import', file, '--rejects', rejects], {
      ...{ ...CLIENT, MONGODB_URI: uri },
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    });
    await kept.reach(LINES / 3, it);
    await killed.kill();
    const creates = Array.from({ length: CLIENTS }, (_, id) => createPlant(service.address, id));
    expect((await fetch(`${service.address}/readyz`)).status).to.equal(200);
    for (const { status } of await Promise.all(creates)) expect(status).to.equal(200);
    expect(await it.ended, it.stderr()).to.equal(1);

    const { stored = 0, invalid, unknown = 0, ...others } = countsOf(it.stdout());
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
    if (process.env.IMPORT_LINES !== undefined) process.stdout.write(it.stdout());
    await killed.restart();
    await set.settled();
  });

  it('export has each plant once, in the order of the ids, when the primary is killed', async () => {
    const to = files.newPath();
    const partial = `${to}.partial`;
    const killed = await set.primary();
    const it = startExport([to], { MONGODB_URI: uri });
    while (!existsSync(partial) || statSync(partial).size === 0) await setImmediate();
    await killed.kill();
    expect(existsSync(partial), 'the primary was killed in the middle').to.equal(true);
    expect(await it.ended, it.err).to.equal(0);
    const stored = [...(await kept.lines())].sort((a, b) => a - b);
    expect(stored).to.have.lengthOf.above(0);
    expect(readFileSync(to, 'utf8') === stored.map(plantLine).join('')).to.equal(true);
    await killed.restart();
    await set.settled();
  });

  it('every command ends when only one secondary is left: serve with 0, check and import with 1', async () => {
    const env = { MONGODB_URI: set.uri, ACCESS_TOKEN_SHA256, REQUEST_DEADLINE_MS: '3000' };
    const service = await serveHere(env);
    expect((await createPlant(service.address, 1)).status).to.equal(200);
    const primary = await set.primary();
    const [, ...others] = set.members.filter((member) => member !== primary);
    for (const member of [primary, ...others]) await member.kill();
    await service.printed(/the replica set has no primary/);

    const check = new Command(['check'], env);
    const plants = startImport([await files.write(numbered(1))], env);
    await plants.reported(/the replica set has no primary/);
    expect(await plants.stop()).to.equal(1);
    expect(countsOf(plants.out)).to.deep.equal({ unavailable: 1 });
    expect(await check.ended).to.equal(1);
    expect(check.out).to.match(/not ready, MONGODB_URI: .*the replica set has no primary/);
    expect(await service.stop()).to.equal(0);
  });
});
