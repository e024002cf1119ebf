// Removes compiled files whose source was moved or removed. `tsc` keeps them, so Mocha would run tests that are gone.
// `npm run build` and `npm test` call this. The output of `a/b.ts` is in a folder `dist` next to `a`: `dist/a/b.js`.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const OUTPUT = /\.(?:js|d\.ts|cjs|d\.cts)$/;
const LEFT_OUT = ['node_modules', '.git', '.cache'];

function removeStale(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory() || LEFT_OUT.includes(entry.name)) continue;
    if (entry.name !== 'dist') removeStale(path);
    else for (const file of outputsIn(path)) if (!hasSource(folder, path, file)) rmSync(file);
  }
}

function outputsIn(dist) {
  const files = readdirSync(dist, { recursive: true }).map((file) => join(dist, file));
  return files.filter((file) => OUTPUT.test(file));
}

function hasSource(folder, dist, file) {
  const ending = /\.c\w+$/.test(file) ? '.cjs' : '.ts';
  return existsSync(join(folder, relative(dist, file).replace(OUTPUT, ending)));
}

removeStale(fileURLToPath(new URL('..', import.meta.url)));
