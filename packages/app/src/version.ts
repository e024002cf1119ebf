import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** The version of this package, from its manifest. */
export const version: string = JSON.parse(manifest).version;
