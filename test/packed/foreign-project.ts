import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Manifest, published, readManifest, tarballOf } from '../manifest.js';
import { root } from '../root.js';

const run = promisify(execFile);
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

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
    const workspaces = published.flatMap(({ folder }) => ['--workspace', folder]);
    const destination = ['--pack-destination', join(project.folder, 'tarballs')];
    await run(npm, ['pack', ...workspaces, ...destination], { cwd: root });
    const packages = published.map(({ manifest }) => [manifest.name, project.tarball(manifest)]);
    const libraries = LIBRARIES.map((name) => [name, versionOf(name)]);
    const dependencies = Object.fromEntries([...libraries, ...packages]);
    project.write('package.json', JSON.stringify({ private: true, dependencies }));
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund'];
    await run(npm, install, { cwd: project.folder });
    return project;
  }

  /** The path of a tarball. */
  tarball(manifest: Manifest): string {
    return join(this.folder, 'tarballs', tarballOf(manifest, manifest.version));
  }

  /** The path of an installed package, or of one of its files. */
  installed(...path: string[]): string {
    return join(this.folder, 'node_modules', ...path);
  }

  write(file: string, text: string | Buffer): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The version of a library that the workspace uses. */
function versionOf(name: string): string {
  return readManifest(join(root, 'node_modules', name)).version;
}
