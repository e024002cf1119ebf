import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ReplicaSet } from '@plant-store/mongod';
import { compare } from './compare.js';
import { connectionCounts, databaseDelay, growth } from './growth.js';
import { imports } from './imports.js';
import { installedSize } from './installed-size.js';
import { ownLoad } from './load-process.js';
import { machine } from './machine.js';
import type { Results } from './results.js';
import { startUp } from './start-up.js';
import { durable, inMemory, root } from './subject.js';
import { writeDocument } from './write-document.js';
import { hasWrk, wrk } from './wrk.js';

/** The cache that a `mongod` has by default; those of the tests are configured with less. */
const DEFAULT_CACHE_GIB = Math.max(0.25, (totalmem() / 2 ** 30 - 1) / 2);

const USAGE = `npm run bench -- [options]

What to measure (--compare by default):
  --compare      the service and its peers, in memory and durable; also with wrk, if it is installed
  --growth       creates in a collection with many plants, compared with an empty one
  --connections  creates with 1 to 5,000 connections
  --delay        creates with a database whose round trips take 10 ms
  --import       the import of a file of plants, compared with the bulk insert of the driver
  --start-up     the time from the start of the process to the first response
  --size         the size of the production dependencies on disk
  --all          all of these

How to measure:
  --rounds <n>   number of rounds of the comparison (5)
  --seconds <n>  length of each measured window (3)
  --plants <n>   number of plants for --growth and --import (1000000)
  --quick        two rounds of short windows, to check that the benchmark works; does not change docs/
`;

const flag = { type: 'boolean', default: false } as const;

const { values } = parseArgs({
  options: {
    compare: flag,
    growth: flag,
    connections: flag,
    delay: flag,
    import: flag,
    'start-up': flag,
    size: flag,
    all: flag,
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    plants: { type: 'string', default: '1000000' },
    quick: flag,
    help: flag,
  },
});
if (values.help) process.stdout.write(USAGE);
else await bench();

async function bench(): Promise<void> {
  installPeers();
  const set = await ReplicaSet.start({ members: 1, cacheGiB: DEFAULT_CACHE_GIB });
  try {
    const results = await measured(set);
    save(results);
    if (!values.quick) writeDocument(results);
  } finally {
    await set.stop();
  }
}

async function measured(set: ReplicaSet): Promise<Results> {
  const { quick, all, growth: grown, connections, delay, size, 'start-up': starts } = values;
  const others = [grown, connections, delay, values.import, size, starts];
  const comparison = values.compare || !others.includes(true);
  const options = {
    rounds: quick ? 2 : Number(values.rounds),
    connections: [1, 50, 200],
    loads: hasWrk() ? [ownLoad, wrk] : [ownLoad],
    warmUpRunMs: quick ? 900 : 5000,
    warmUpMs: quick ? 300 : 500,
    windowMs: quick ? 500 : Number(values.seconds) * 1000,
  };
  const pids = set.members.map(({ pid }) => pid);
  const extra = { ...options, set, pids };
  return {
    machine: machine(),
    options,
    ...((all || comparison) && {
      memory: await compare(() => inMemory, [], options),
      durable: await compare((round) => durable(set.uri, `round-${round}`), pids, options),
    }),
    ...((all || starts) && { startUp: await startUp() }),
    ...((all || size) && { size: await installedSize() }),
    ...((all || connections) && { connections: await connectionCounts(extra) }),
    ...((all || delay) && { delay: await databaseDelay(extra) }),
    ...((all || values.import) && {
      imports: await imports(set, quick ? 20_000 : Number(values.plants)),
    }),
    ...((all || grown) && { growth: await growth(extra, Number(values.plants)) }),
  };
}

function installPeers(): void {
  const cwd = join(root, 'tools/bench/peers');
  if (existsSync(join(cwd, 'node_modules/.package-lock.json'))) return;
  execFileSync('npm', ['ci', '--engine-strict=false'], { cwd, stdio: 'inherit' });
}

/** Saves all raw figures outside of version control. */
function save(results: Results): void {
  const folder = join(root, '.cache/bench');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${results.machine.at.replaceAll(':', '-')}.json`);
  writeFileSync(file, JSON.stringify(results, undefined, 1));
  process.stdout.write(`Raw figures: ${file}\n`);
}
