import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The fields of a `package.json` that the tests use. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Reads the manifest in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
