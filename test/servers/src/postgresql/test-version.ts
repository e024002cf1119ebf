import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { downloadPostgresql } from './download-postgresql.js';

const ROOT = join(import.meta.dirname, '../../../../..');
const SUITES = 'packages/plant-repository-postgresql/dist/test/!(*.versions.slow).test.js';

const [version = ''] = process.argv.slice(2);
const POSTGRESQL_BIN = await downloadPostgresql(version);
const mocha = ['mocha', '--no-config', '--parallel', '--jobs', '3', '--timeout', '60000', SUITES];
const child = spawn('npx', mocha, {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, POSTGRESQL_BIN },
});
const [code] = await once(child, 'exit');
process.exit(code ?? 1);
