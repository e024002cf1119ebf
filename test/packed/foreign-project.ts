import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Manifest, readManifest } from '../manifest.js';
import { root } from '../root.js';

const run = promisify(execFile);
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Every package of the project that can be published. */
export const packed = readdirSync(join(root, 'packages')).map((folder) => ({
  folder,
  manifest: readManifest(join(root, 'packages', folder)),
}));

/** What the programs of the tests import besides these packages. */
const LIBRARIES = [
  ...['@koa/cors', '@types/koa__cors', 'koa-mount', '@types/koa-mount', 'koa', '@types/koa'],
  ...['chai', '@types/chai', 'mocha', '@types/mocha', '@types/node'],
];

/** A project outside of the workspace, with the packages installed from their tarballs. */
export class ForeignProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'plant-store-packed-'));

  /** Packs the packages, and installs them. Their dependencies come from the cache of npm, or from the registry. */
  static async install(): Promise<ForeignProject> {
    const project = new ForeignProject();
    mkdirSync(join(project.folder, 'tarballs'));
    const pack = ['pack', '--workspace', 'packages', '--pack-destination'];
    await run(npm, [...pack, join(project.folder, 'tarballs')], { cwd: root });
    const packages = packed.map(({ manifest }) => [manifest.name, project.tarball(manifest)]);
    const libraries = LIBRARIES.map((name) => [name, versionOf(name)]);
    const dependencies = Object.fromEntries([...libraries, ...packages]);
    project.write('package.json', JSON.stringify({ private: true, dependencies }));
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund'];
    await run(npm, install, { cwd: project.folder });
    return project;
  }

  /** The path of a tarball. */
  tarball({ name, version }: Manifest): string {
    const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
    return join(this.folder, 'tarballs', file);
  }

  /** The path of an installed package, or of one of its files. */
  installed(...path: string[]): string {
    return join(this.folder, 'node_modules', ...path);
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The version of a library that the workspace uses. */
function versionOf(name: string): string {
  return readManifest(join(root, 'node_modules', name)).version;
}
