import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { temporaryFolder } from '../../support/root.js';
import { run } from '../../support/run.js';

const GIT = /[\\/]\.git$/;
/** Large, and not changed by a tutorial: the libraries of a folder, and the programs of the tests. */
const LINKED = /[\\/](?:node_modules|\.cache)$/;
const SCOPE = '@plant-store';

/** A copy of the project in which a tutorial is followed. Nothing is written to the project itself. */
export class ProjectCopy {
  readonly folder = temporaryFolder();

  /** @param leftOut The paths that are not copied. */
  constructor(root: string, leftOut = GIT) {
    // With the times of the built files, only what a tutorial changes is built again.
    const libraries = join(root, 'node_modules');
    const linked: string[] = [];
    const filter = (source: string) => {
      if (LINKED.test(source)) linked.push(source);
      return !LINKED.test(source) && !leftOut.test(source);
    };
    cpSync(root, this.folder, { recursive: true, preserveTimestamps: true, filter });
    const packages = new Set([SCOPE, 'plant-store']);
    const names = readdirSync(libraries).filter((name) => !packages.has(name));
    mkdirSync(join(this.folder, 'node_modules'));
    for (const source of [
      ...linked.filter((it) => it !== libraries),
      ...names.map((name) => join(libraries, name)),
    ]) {
      symlinkSync(source, join(this.folder, relative(root, source)));
    }
    this.#linkPackages();
  }

  /** Changes a file as this returns. */
  change(file: string, change: (text: string) => string): void {
    const path = join(this.folder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  /** Links the packages and adds new ones to `package-lock.json`, as `npm install` does, without the network. */
  async install(): Promise<void> {
    this.#linkPackages();
    const args = ['install', '--package-lock-only', '--offline', '--ignore-scripts'];
    await run('npm', args, { cwd: this.folder });
  }

  #linkPackages(): void {
    const scope = join(this.folder, 'node_modules', SCOPE);
    rmSync(scope, { recursive: true, force: true });
    mkdirSync(scope);
    for (const ring of readdirSync(join(this.folder, 'packages'))) {
      for (const name of readdirSync(join(this.folder, 'packages', ring))) {
        symlinkSync(join(this.folder, 'packages', ring, name), join(scope, name));
      }
    }
    symlinkSync(join(this.folder, 'examples/smallest'), join(scope, 'smallest'));
    symlinkSync(join(this.folder, 'test/servers'), join(scope, 'test-servers'));
  }

  /** Runs a tool of the project and resolves with its output. Rejects with the output when it fails. */
  async run(tool: string, ...args: string[]): Promise<string> {
    const command = join(this.folder, 'node_modules', '.bin', tool);
    return (await run(command, args, { cwd: this.folder })).stdout;
  }
}
