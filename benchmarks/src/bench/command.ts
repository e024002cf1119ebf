import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '@plant-store/test-servers/programs';
import { compare, type Sample } from './compare.js';
import { tables, writeDocuments } from './report.js';
import { startDatabase, stores } from './stores.js';

const USAGE = `npm run bench -- [options]

Measures the built service and its peers on each store, with 1, 50 and 200 connections.
Prints the ratios and the figures. With all stores, updates docs/evidence.md, docs/performance.csv and the chart.

  --rounds <n>      number of rounds (5)
  --creates <n>     creates in each measured window (50000), a tenth of them with one connection
  --store <name>  memory, mongodb or postgresql; can be repeated. Changes no document
  --base <dir>      measures the built service of another checkout, too; changes no document
  --quick           one round of few creates, to check that the benchmark works; changes no document
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    creates: { type: 'string', default: '50000' },
    store: { type: 'string', multiple: true },
    base: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else if (findProgram('wrk')) await bench();
else {
  process.stderr.write('bench: no wrk on the PATH: install it. It sends the creates\n');
  process.exitCode = 1;
}

async function bench(): Promise<void> {
  const rounds = values.quick ? 1 : Number(values.rounds);
  const creates = values.quick ? 5000 : Number(values.creates);
  const base = values.base === undefined ? undefined : resolve(values.base);
  const names = values.store ?? [...stores.keys()];
  // All databases are started first, so that a missing one is noticed before minutes of measuring.
  const running = await Promise.all(names.map((name) => startDatabase(name, base)));
  const results = new Map<string, readonly Sample[]>();
  for (const store of running) {
    results.set(store.name, await compare(store, { rounds, creates }));
    await store.stop();
  }
  const whole = !values.quick && values.store === undefined && base === undefined;
  if (whole) writeDocuments(results, rounds, creates);
  for (const [name, table] of tables(results)) process.stdout.write(`${name}:\n\n${table}\n\n`);
}
