import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.js';

/** The fields of a `package.json` that the tests use. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Every package that can be published, with its folder from the root. */
export const published = readdirSync(join(root, 'packages'))
  .flatMap((ring) =>
    readdirSync(join(root, 'packages', ring)).map((name) => `packages/${ring}/${name}`),
  )
  .filter((folder) => existsSync(join(root, folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(join(root, folder)) }))
  .filter(({ manifest }) => manifest.private !== true);

/** The name of the file that `npm pack` makes of a package. */
export function tarballOf({ name }: Manifest, version: string): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

/** The files of a folder as relative paths; links are not followed. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => join(it.parentPath, it.name).slice(folder.length + 1));
}
