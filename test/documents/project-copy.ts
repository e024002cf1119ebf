import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const NOT_COPIED = /[\\/](?:node_modules|\.git|\.cache)$/;
const SCOPE = '@plant-store';

/** A copy of the project in which a tutorial is followed. Nothing is written to the project itself. */
export class ProjectCopy {
  readonly folder: string;

  constructor(root: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'plant-store-tutorial-'));
    // With the times of the built files, only what a tutorial changes is built again.
    const filter = (source: string) => !NOT_COPIED.test(source);
    cpSync(root, this.folder, { recursive: true, preserveTimestamps: true, filter });
    this.#linkLibraries(join(root, 'node_modules'));
  }

  /** Writes the files of tutorials that were followed. The caller runs their commands. */
  write(files: ReadonlyMap<string, string>): void {
    for (const [file, text] of files) {
      const path = join(this.folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    this.#linkPackages();
  }

  /** Links the packages of the workspace, as `npm install` does. */
  #linkPackages(): void {
    const scope = join(this.folder, 'node_modules', SCOPE);
    rmSync(scope, { recursive: true, force: true });
    mkdirSync(scope);
    for (const folder of ['packages', 'tools']) {
      for (const name of readdirSync(join(this.folder, folder))) {
        symlinkSync(join(this.folder, folder, name), join(scope, name));
      }
    }
  }

  /** Runs a tool of the project and resolves with its output. Rejects with the output when it fails. */
  async run(tool: string, ...args: string[]): Promise<string> {
    try {
      const command = join(this.folder, 'node_modules', '.bin', tool);
      return (await run(command, args, { cwd: this.folder })).stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${tool} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #linkLibraries(libraries: string): void {
    mkdirSync(join(this.folder, 'node_modules'));
    for (const name of readdirSync(libraries)) {
      if (name === SCOPE || name === 'plant-store') continue;
      symlinkSync(join(libraries, name), join(this.folder, 'node_modules', name));
    }
  }
}
