import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram, type MochaContext, skipWithout } from '../programs/index.js';

const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder of PostgreSQL's programs: `POSTGRESQL_BIN`, where Debian installs them, or on the `PATH`. */
export function findPostgresql(): string | undefined {
  if (process.env.POSTGRESQL_BIN) return process.env.POSTGRESQL_BIN;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => +b - +a) : [];
  const installed = versions.map((version) => join(DEBIAN, version, 'bin'));
  const path = findProgram('initdb', installed);
  return path === undefined ? undefined : dirname(path);
}

/** A `before` hook. Without a server the tests are pending; with `CI` set they fail. */
export function needsPostgresql(this: MochaContext): void {
  if (findPostgresql() === undefined) skipWithout(this, 'no PostgreSQL: install the server');
}
