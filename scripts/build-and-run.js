// `npm run database` and others: builds a project, then runs a program.
//
//   node scripts/build-and-run.js PROJECT PROGRAM [ARGUMENT...]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const TSC = 'node_modules/typescript/bin/tsc';
const [project, program] = process.argv.slice(2);

if (!existsSync(TSC)) {
  process.stderr.write('The dependencies are not installed: run npm ci first.\n');
  process.exit(1);
}
await import('./remove-stale.js');
const { status } = spawnSync(process.execPath, [TSC, '-b', project], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
process.argv.splice(1, 3, resolve(program));
await import(pathToFileURL(process.argv[1]));
