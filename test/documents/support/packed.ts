import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readManifest } from '../../manifest.js';
import { root } from '../../root.js';

const run = promisify(execFile);

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Not linked: the packages of this project, and what npm keeps for itself. */
const OWN = new Set(['plant-store', '@plant-store', '.bin', '.package-lock.json']);

/**
 * Packs packages of the project, and unpacks them in `node_modules` of another folder, where `npm install` would. The
 * libraries are linked: `npm ci` has installed them from the manifests.
 *
 * @param packages The folders of the packages from the root, such as `packages/domain`.
 */
export async function installPacked(place: string, packages: readonly string[]): Promise<void> {
  const workspaces = packages.flatMap((folder) => ['--workspace', folder]);
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', place, ...workspaces];
  await run(npm, pack, { cwd: root });
  for (const name of readdirSync(place).filter((it) => it.endsWith('.tgz'))) {
    await unpack(place, join(place, name));
  }
  const libraries = readdirSync(join(root, 'node_modules')).filter((name) => !OWN.has(name));
  for (const name of libraries) {
    symlinkSync(join(root, 'node_modules', name), join(place, 'node_modules', name));
  }
}

async function unpack(place: string, tarball: string): Promise<void> {
  const unpacked = mkdtempSync(join(place, 'unpacked-'));
  await run('tar', ['-xzf', tarball, '-C', unpacked]);
  const installed = join(place, 'node_modules', readManifest(join(unpacked, 'package')).name);
  mkdirSync(dirname(installed), { recursive: true });
  renameSync(join(unpacked, 'package'), installed);
}
