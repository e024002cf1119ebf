import { needsMongod } from '@plant-store/test-servers/mongod';
import { slowPackage } from '@plant-store/test-servers/programs';
import { expect } from 'chai';
import { root } from '../../test/support/root.js';
import { run } from '../../test/support/run.js';

const FILE =
  'packages/production/plant-repository-mongodb-batched/dist/test/batched-mongo-plant-repository.driver-facts.test.js';

/** Datadog's agent changes the comment of each command, and sends nothing to another machine. */
let agent: string;
const ENVIRONMENT = {
  DD_DBM_PROPAGATION_MODE: 'full',
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
};

/** The tests whose outcome depends on the commands that are sent. The rest of the file would repeat them. */
const TESTS = ['--grep', '(a plant|an insert) .*(?<!reply is too large)$'];

describe('The MongoDB store with a preloaded monitoring agent', function () {
  this.timeout(240_000);

  before(async function () {
    await needsMongod.call(this);
    agent = slowPackage(this, 'dd-trace/init.js');
  });

  it('reports true outcomes', async () => {
    const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--no-color', '--exit'];
    const args = ['--require', agent, ...mocha, '--timeout', '60000', ...TESTS, FILE];
    const env = { ...process.env, ...ENVIRONMENT };
    const { stdout } = await run(process.execPath, args, { cwd: root, env });
    expect(stdout).to.match(/✔ .* replies to inserts are lost/);
  });
});
