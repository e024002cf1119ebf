import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { olderServer, SERVERS } from './mongod/older-server.js';
import { downloadPostgresql, RELEASES } from './postgresql/download-postgresql.js';

const ROOT = join(import.meta.dirname, '../../../..');

/** The versions that can be downloaded. */
const VERSIONS: Readonly<Record<string, object>> = { mongodb: SERVERS, postgresql: RELEASES };

const versions = (of: object) => Object.keys(of).join(', ');
const USAGE = `npm run test:database -- mongodb|postgresql VERSION

Downloads a server for Linux on x86-64, and runs the tests of its stores.
MongoDB: ${versions(SERVERS)}, or the path of a mongod. PostgreSQL: ${versions(RELEASES)}.
`;

/** The variables with which the tests use a version of a server. */
const DOWNLOADS: Readonly<Record<string, (version: string) => Promise<NodeJS.ProcessEnv>>> = {
  mongodb: async (version) =>
    version.includes('/')
      ? { MONGOMS_SYSTEM_BINARY: version }
      : olderServer(join(ROOT, '.cache/mongod'), version),
  postgresql: async (version) => ({ POSTGRESQL_BIN: await downloadPostgresql(version) }),
};

const [database = '', version = ''] = process.argv.slice(2);
const isPath = database === 'mongodb' && version.includes('/');
const isKnown = isPath || Object.hasOwn(VERSIONS[database] ?? {}, version);
const download = isKnown ? DOWNLOADS[database] : undefined;
if (download === undefined) {
  const given = `${database} ${version}`.trim();
  process.stderr.write(`expected a database and one of its versions, got "${given}"\n\n${USAGE}`);
  process.exit(2);
}
const env = { ...process.env, ...(await download(version)) };
const suites = `packages/*/plant-repository-${database}*/dist/test/**/!(*.versions.slow).test.js`;
const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '60000', suites];
const child = spawn(process.execPath, mocha, { cwd: ROOT, stdio: 'inherit', env });
const [code] = await once(child, 'exit');
process.exit(code ?? 1);
