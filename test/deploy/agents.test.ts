import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needsMongod } from '@plant-store/mongod';
import { skipWithout } from '@plant-store/programs';
import { expect } from 'chai';
import { root } from '../root.js';

const agents = join(root, 'test/deploy/agents/node_modules');
const FOLDER = 'packages/plant-repository-mongodb/dist/test';
const STORE = `${FOLDER}/mongo-plant-repository`;

/** A closed port: an agent sends nothing to another machine. */
const NOWHERE = 'http://127.0.0.1:9';

/** The file of each agent that is preloaded, and its variables. */
const preloads: Readonly<Record<string, readonly string[]>> = {
  'dd-trace/init.js': [
    // Changes the comment of each command.
    ...['DD_DBM_PROPAGATION_MODE=full', `DD_TRACE_AGENT_URL=${NOWHERE}`],
    ...['DD_INSTRUMENTATION_TELEMETRY_ENABLED=false', 'DD_REMOTE_CONFIGURATION_ENABLED=false'],
  ],
  'newrelic/index.js': [
    ...['NEW_RELIC_APP_NAME=plant-store', 'NEW_RELIC_LICENSE_KEY=none', 'NEW_RELIC_PORT=9'],
    ...['NEW_RELIC_HOST=127.0.0.1', 'NEW_RELIC_NO_CONFIG_FILE=true', 'NEW_RELIC_LOG_ENABLED=false'],
  ],
  'elastic-apm-node/start.js': [
    ...[`ELASTIC_APM_SERVER_URL=${NOWHERE}`, 'ELASTIC_APM_CENTRAL_CONFIG=false'],
    ...['ELASTIC_APM_CLOUD_PROVIDER=none', 'ELASTIC_APM_LOG_LEVEL=off'],
  ],
};

/** The tests whose outcome depends on the commands that are sent. The rest of their files would repeat them. */
const TESTS = ['--grep', '(A plant|An insert) .*(?<!too large for the server)$'];
const FILES = [`${STORE}.driver-facts.test.js`, `${FOLDER}/mongo-plant-storage.test.js`];

/** Resolves with what the tests of the store print. Rejects when one fails. */
async function runTests(preload: string, variables: readonly string[]): Promise<string> {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--no-color', '--exit'];
  const args = ['--require', join(agents, preload), ...mocha, '--timeout', '60000'];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, ...TESTS, ...FILES], {
    cwd: root,
    env: { ...process.env, ...Object.fromEntries(variables.map((it) => it.split('='))) },
  });
  return stdout;
}

describe('The store with a preloaded agent', function () {
  this.timeout(240_000);

  before(async function () {
    await needsMongod.call(this);
    // The agents take 116 MB, so `npm install` leaves them out.
    if (!existsSync(agents)) skipWithout(this, 'no agents: run npm ci --prefix test/deploy/agents');
  });

  // At the same time, because the tests mostly wait for the time-outs of connections.
  it('reports true outcomes', async () => {
    const lost = /✔ .* the replies to its inserts are lost.*\n[\s\S]*\b1\d passing/;
    const runs = Object.entries(preloads).map(async ([preload, variables]) => {
      expect(await runTests(preload, variables), preload).to.match(lost);
    });
    await Promise.all(runs);
  });
});
