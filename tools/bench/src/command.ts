import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ReplicaSet } from '@plant-store/mongod';
import { compare } from './compare.js';
import { connectionCounts, databaseDelay, growth } from './growth.js';
import { installedSize } from './installed-size.js';
import { machine } from './machine.js';
import type { Results } from './results.js';
import { startUp } from './start-up.js';
import { durable, inMemory, root } from './subject.js';
import { writeDocument } from './write-document.js';

const USAGE = `npm run bench -- [options]
  --quick              two short rounds, to see that it works; leaves docs/ alone
  --rounds <n>         rounds of the comparison (5)
  --seconds <n>        length of each window (3)
  --growth             creates into a collection with many plants, beside an empty one
  --plants <n>         how many plants that is (1000000)
  --connections        1 to 5,000 connections
  --delay              10 ms to the database and back
  --start-up           from the start of the process to the first answer
  --size               what the production dependencies take on the disk
  --all                all of these besides the comparison
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    plants: { type: 'string', default: '1000000' },
    growth: { type: 'boolean', default: false },
    connections: { type: 'boolean', default: false },
    delay: { type: 'boolean', default: false },
    'start-up': { type: 'boolean', default: false },
    size: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else await bench();

async function bench(): Promise<void> {
  installPeers();
  const { quick, all } = values;
  const windowMs = quick ? 500 : Number(values.seconds) * 1000;
  const warmUpMs = quick ? 300 : 500;
  const options = {
    rounds: quick ? 2 : Number(values.rounds),
    connections: [1, 50, 200],
    warmUpMs,
    windowMs,
  };
  const about = machine();
  const set = await ReplicaSet.start({ members: 1, cacheGiB: 2 });
  try {
    const pids = set.members.map(({ pid }) => pid);
    const extra = { set, pids, warmUpMs, windowMs };
    const results: Results = {
      machine: about,
      options,
      memory: await compare(() => inMemory, [], options),
      durable: await compare((round) => durable(set.uri, `round-${round}`), pids, options),
      ...((all || values.growth) && { growth: await growth(extra, Number(values.plants)) }),
      ...((all || values.connections) && { connections: await connectionCounts(extra) }),
      ...((all || values.delay) && { delay: await databaseDelay(extra) }),
      ...((all || values['start-up']) && { startUp: await startUp() }),
      ...((all || values.size) && { size: await installedSize() }),
    };
    save(results);
    if (!quick) writeDocument(results);
  } finally {
    await set.stop();
  }
}

function installPeers(): void {
  const cwd = join(root, 'tools/bench/peers');
  if (existsSync(join(cwd, 'node_modules/.package-lock.json'))) return;
  execFileSync('npm', ['ci'], { cwd, stdio: 'inherit' });
}

/** Keeps every figure, raw, outside version control. */
function save(results: Results): void {
  const folder = join(root, '.cache/bench');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${results.machine.at.replaceAll(':', '-')}.json`);
  writeFileSync(file, JSON.stringify(results, undefined, 1));
  process.stdout.write(`Raw figures: ${file}\n`);
}
