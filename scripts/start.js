// `npm start`: builds the service when it is out of date, then runs the plant-store command.
// The compiler would take longer to tell whether the build is out of date.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = join(root, 'packages', 'production', 'service');

/** The folders that `tsc -b packages/production/service` builds. */
function builtFolders() {
  const { references } = JSON.parse(readFileSync(join(app, 'tsconfig.json'), 'utf8'));
  return [app, ...references.map(({ path }) => join(app, path))];
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function isOutOfDate(folder) {
  const sources = join(folder, 'src');
  const files = readdirSync(sources, { recursive: true }).map((file) => join(sources, file));
  const builtAt = changedAt(join(folder, 'dist', 'tsconfig.tsbuildinfo'));
  return [sources, ...files].some((file) => changedAt(file) > builtAt);
}

if (builtFolders().some(isOutOfDate)) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(tsc)) {
    process.stderr.write('The dependencies are not installed: run npm ci first.\n');
    process.exit(1);
  }
  const { status } = spawnSync(process.execPath, [tsc, '-b', 'packages/production/service'], {
    cwd: root,
    // Standard output is the log of the service.
    stdio: ['inherit', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}
await import('./write-version.js');
await import('../packages/production/service/bin/plant-store.js');
