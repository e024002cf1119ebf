import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram } from '@plant-store/test-servers/programs';
import { ladder, PARTS } from '../ladder/ladder.js';
import { endOnSignals } from '../peers.js';
import { compare, type Sample } from './compare.js';
import { ratioTable, writeDocuments } from './report.js';
import { writeLines } from './rings.js';
import { startDatabase, stores } from './stores.js';

const USAGE = `npm run bench -- [options]
npm run bench -- ladder [options]
npm run bench -- lines

Measures the built service and its peers on each store, with 1, 50 and 200 connections, and prints the ratios. With all
stores, updates docs/evidence.md and docs/performance.csv.

  --rounds <n>      number of rounds (3)
  --creates <n>     creates in each measured window (50000; ladder: 6000), a tenth of them with one connection
  --store <name>    memory, mongodb or postgresql; can be repeated. Changes no document
  --base <dir>      measures the built service of another checkout, too; changes no document
  --quick           one round of few creates, to check that the benchmark works; changes no document

ladder measures five implementations of one port for MongoDB, from a plain insertOne to batched inserts, and prints a table of
each part: lines of code, cases of the contract suite (3 minutes), responses while a primary fails (1.5 minutes a round), and
creates per second (1.5 minutes a round). Takes 12 minutes on two CPUs, and updates README.md and docs/evidence.md.

  --only <part>     lines, contract, faults or throughput; can be repeated. Changes no document

lines counts the lines of code of each ring and package, without blank lines and comments, and updates docs/architecture.md.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    creates: { type: 'string' },
    store: { type: 'string', multiple: true },
    base: { type: 'string' },
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
endOnSignals();
const [what] = positionals;
const parts = values.only ?? PARTS;
const needsWrk = what === undefined || parts.includes('throughput');
if (values.help) process.stdout.write(USAGE);
else if (what === 'lines') process.stdout.write(writeLines());
else if (!needsWrk || findProgram('wrk')) await measure();
else {
  process.stderr.write('bench: no wrk on the PATH: install it. It sends the creates\n');
  process.exitCode = 1;
}

async function measure(): Promise<void> {
  const rounds = values.quick ? 1 : wholeNumber('rounds', values.rounds);
  if (what === undefined) {
    expectNone(['only'], 'it is an option of ladder');
    return bench(rounds);
  }
  if (what !== 'ladder') throw new Error(`bench: expected ladder, lines or nothing, got "${what}"`);
  expectNone(['store', 'base'], 'ladder does not have it');
  const creates = values.quick ? 1000 : wholeNumber('creates', values.creates ?? '6000');
  const isWhole = !values.quick && values.only === undefined;
  process.stdout.write(await ladder({ parts, rounds, creates, isWhole }));
}

function wholeNumber(name: string, value: string): number {
  if (/^[1-9]\d{0,6}$/.test(value)) return Number(value);
  throw new Error(`--${name}: expected a whole number from 1 to 9999999, got "${value}"`);
}

/** Refuses options that would have no effect. */
function expectNone(names: readonly (keyof typeof values)[], reason: string): void {
  const given = names.find((name) => values[name] !== undefined);
  if (given !== undefined) throw new Error(`--${given}: ${reason}`);
}

async function bench(rounds: number): Promise<void> {
  const creates = values.quick ? 5000 : wholeNumber('creates', values.creates ?? '50000');
  const base = values.base === undefined ? undefined : resolve(values.base);
  const names = values.store ?? [...stores.keys()];
  // All databases are started first, so that a missing one is noticed before minutes of measuring.
  const running = await Promise.all(names.map((name) => startDatabase(name, base)));
  const results = new Map<string, readonly Sample[]>();
  for (const store of running) {
    results.set(store.name, await compare(store, { rounds, creates, warmUp: 30_000 }));
    await store.stop();
  }
  const whole = !values.quick && values.store === undefined && base === undefined;
  if (whole) writeDocuments(results, rounds, creates);
  process.stdout.write(`${ratioTable(results)}\n`);
}
