import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '@plant-store/http-operations';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** Written by `scripts/write-version.js`. */
const IDENTITY = './build.json';

/** Identifies this build. Without `build.json`, as after `tsc` alone, its version is the one in `package.json`. */
export const build: Build = existsSync(new URL(IDENTITY, import.meta.url))
  ? read(IDENTITY)
  : { version: read('../../package.json').version };

const { repository } = read('../../package.json');
const checkout = join(import.meta.dirname, '../../../../..');

/**
 * The location of the documentation, which no package contains. A release writes the URL of the repository into the
 * manifest.
 */
export const SOURCE: string =
  repository?.url.replace(/^git\+|\.git$/g, '') ??
  (existsSync(`${checkout}/docs`) ? checkout : `the source of version ${build.version}`);
