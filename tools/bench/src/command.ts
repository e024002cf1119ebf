import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ReplicaSet } from '@plant-store/mongod';
import { compare } from './compare.js';
import { ratioTable, writeDocument } from './report.js';
import { durable, inMemory, root } from './subjects.js';

/** The cache that a `mongod` has by default; those of the tests are configured with less. */
const DEFAULT_CACHE_GIB = Math.max(0.25, (totalmem() / 2 ** 30 - 1) / 2);

const USAGE = `npm run bench -- [options]

Measures the built service and its peers, in memory and durable, with 1, 50 and 200 connections.
Updates docs/performance.md and its chart, and prints the table of ratios.

  --rounds <n>   number of rounds (5)
  --seconds <n>  length of each measured window (3)
  --base <dir>   also measures the built service of another checkout; changes no document
  --quick        one round of short windows, to check that the benchmark works; changes no document
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    base: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else await bench();

async function bench(): Promise<void> {
  installPeers();
  const rounds = values.quick ? 1 : Number(values.rounds);
  const seconds = values.quick ? 1 : Number(values.seconds);
  const base = values.base === undefined ? undefined : resolve(values.base);
  const set = await ReplicaSet.start({ members: 1, cacheGiB: DEFAULT_CACHE_GIB });
  try {
    const databases = set.members.map(({ pid }) => pid);
    const memory = await compare(() => inMemory(base), { rounds, seconds, databases: [] });
    const onDisk = (round: number) => durable(set.uri, round, base);
    const results = { memory, durable: await compare(onDisk, { rounds, seconds, databases }) };
    if (!values.quick && base === undefined) writeDocument(results, rounds, seconds);
    process.stdout.write(`${ratioTable(results)}\n`);
  } finally {
    await set.stop();
  }
}

function installPeers(): void {
  const cwd = join(root, 'tools/bench/peers');
  if (existsSync(join(cwd, 'node_modules/.package-lock.json'))) return;
  execFileSync('npm', ['ci', '--engine-strict=false'], { cwd, stdio: 'inherit' });
}
