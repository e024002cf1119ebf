import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAMS = ['initdb', 'postgres'];
const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder of PostgreSQL's programs: on the `PATH`, or where Debian installs them. */
export function findPostgresql(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => +b - +a) : [];
  const installed = versions.map((version) => join(DEBIAN, version, 'bin'));
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...installed];
  return folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))));
}

/** A `before` hook. Without a server the tests are pending; with `CI` set they fail. */
export function needsPostgresql(this: Mocha.Context): void {
  if (findPostgresql() !== undefined) return;
  if (process.env.CI) throw new Error('there is no PostgreSQL for these tests, and CI is set');
  process.stderr.write('\n*** NO POSTGRESQL: its tests did not run. Install the server. ***\n\n');
  this.skip();
}
