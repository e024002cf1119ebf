import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The fields of a `package.json` that a release uses. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface Workspace {
  /** Its folder from the root. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Runs a program in the project, and returns what it prints. Throws when it fails; its errors go to standard error. */
export function run(program: string, ...args: string[]): string {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio }).trim();
}

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

export function write(file: string, text: string): void {
  writeFileSync(join(root, file), text);
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(read(join(folder, 'package.json')));
}

export function workspaces(): readonly Workspace[] {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, object>;
  };
  const folders = Object.keys(packages).filter(
    (it) => it !== '' && !/(?:^|\/)node_modules\//.test(it),
  );
  return folders.map((folder) => ({ folder, manifest: readManifest(folder) }));
}
