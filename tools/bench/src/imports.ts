import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReplicaSet } from '@plant-store/mongod';
import { cpuTimeUs, peakMemoryMib, totalCpuTimeUs } from './cpu-time.js';
import { root } from './subject.js';
import { newToken, tokenDigest } from './token.js';

/** The figures of one import, from the start of its process to its end. */
export interface ImportSample {
  readonly subject: string;
  readonly round: number;
  readonly perSecond: number;
  /** The CPU time for each plant, in microseconds: of the importing process, and of the database. */
  readonly cpuTimesUs: readonly [number, number];
  /** How many CPUs other programs kept busy. */
  readonly otherCpus: number;
  /** The largest resident set of the importing process. */
  readonly peakMemoryMib: number;
}

const ROUNDS = 3;
const POLL_INTERVAL_MS = 50;

interface Importer {
  readonly subject: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Measures imports of a file of `plants` plants, each into a new collection. */
export async function imports(set: ReplicaSet, plants: number): Promise<ImportSample[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
  try {
    const file = join(folder, 'plants.ndjson');
    await writePlants(file, plants);
    const samples: ImportSample[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const importers = importersOf(set.uri, file, plants, round);
      for (const importer of round % 2 === 0 ? importers : importers.toReversed()) {
        samples.push(await measured(importer, round, plants, set.members[0]?.pid ?? 0));
      }
    }
    return samples;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function importersOf(uri: string, file: string, plants: number, round: number): Importer[] {
  const token = newToken();
  const client = { ACCESS_TOKEN: token, ACCESS_TOKEN_SHA256: tokenDigest(token) };
  const env = (name: string) => ({ MONGODB_URI: uri, MONGODB_COLLECTION: `${name}-${round}` });
  const args = ['packages/app/bin/plant-store.js', 'import', file];
  return [
    { subject: '`plant-store import`', args, env: { ...env('imported'), ...client } },
    {
      subject: '`insertMany` of documents in memory, four at a time',
      args: ['tools/bench/peers/bulk-insert.js'],
      env: { ...env('inserted'), PLANTS: `${plants}` },
    },
    {
      subject: 'a script: `readline`, `JSON.parse`, `insertMany`',
      args: ['tools/bench/peers/import-script.js'],
      env: { ...env('scripted'), FILE: file },
    },
  ];
}

async function measured(
  { subject, args, env }: Importer,
  round: number,
  plants: number,
  database: number,
): Promise<ImportSample> {
  const before = {
    at: performance.now(),
    all: totalCpuTimeUs(),
    database: cpuTimeUs(database),
  };
  const { own, memory } = await run(args, env);
  const ms = performance.now() - before.at;
  const inDatabase = cpuTimeUs(database) - before.database;
  const sample: ImportSample = {
    subject,
    round,
    perSecond: plants / (ms / 1000),
    cpuTimesUs: [own / plants, inDatabase / plants],
    otherCpus: (totalCpuTimeUs() - before.all - own - inDatabase) / (ms * 1000),
    peakMemoryMib: memory,
  };
  process.stderr.write(`${JSON.stringify(sample)}\n`);
  return sample;
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const used = { own: 0, memory: 0 };
  const look = setInterval(() => {
    used.own = cpuTimeUs(child.pid ?? 0);
    // It is NaN for a process that has just ended.
    used.memory = Math.max(used.memory, peakMemoryMib(child.pid ?? 0) || 0);
  }, POLL_INTERVAL_MS);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return used;
}

async function writePlants(path: string, plants: number): Promise<void> {
  const file = createWriteStream(path);
  for (let id = 0; id < plants; id += 1) {
    const line = `{"id":${id},"name":"Monstera deliciosa ${id}","tag":"tropical"}\n`;
    if (!file.write(line)) await once(file, 'drain');
  }
  await once(file.end(), 'finish');
}
