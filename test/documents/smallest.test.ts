import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/test-servers/loopback';
import { newDatabase } from '@plant-store/test-servers/mongod';
import { postPlant } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { readDocument } from '../support/markdown.js';
import { root, temporaryFolder } from '../support/root.js';
import { run } from '../support/run.js';
import { snippet, withReal } from './support/snippet.js';
import { Terminal } from './support/terminal.js';

const folder = join(root, 'examples/smallest');
const page = 'examples/smallest/README.md';

/** A token and a body, the response, and the type of the body if it is not JSON. */
const REQUESTS: readonly (readonly [
  token: string,
  body: string,
  response: unknown,
  type?: string,
])[] = [
  ['demo', '{"id":1,"name":"Monstera","tag":"tropical"}', { name: 'Monstera', tag: 'tropical' }],
  ['demo', '{"id":1,"name":"Ficus"}', { error: 4006, message: 'a plant with this id exists' }],
  ['demo', '{"id":1.5,"name":"F"}', { error: 4005, message: 'id must be a safe integer' }],
  ['demo', '{', { error: 4004, message: 'the body is not valid JSON' }],
  ['demo', '{}', { error: 4150, message: 'send application/json' }, 'text/plain'],
  ['other', '{', { error: 4011, message: 'invalid token' }],
];

describe('The smallest plant store, copied', function () {
  this.timeout(120_000);
  const copy = join(temporaryFolder(), 'smallest');
  const terminal = new Terminal(copy);

  before(() => {
    cpSync(folder, copy, { recursive: true, filter: (source) => !source.endsWith('dist') });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });

  after(() => terminal.stop());

  /** Resolves with what its tests print. */
  async function tested(env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd: copy, env: { ...process.env, ...env } };
    const { stdout } = await run('bash', ['-c', snippet(page, 'npm test')], options).catch(
      (it) => it,
    );
    return stdout.replaceAll(/ \(\d+ms\)/g, '');
  }

  it('has at most 250 lines', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
    expect(text.split('\n').length - 1).to.be.within(1, 250);
  });

  for (const store of ['memory', 'MongoDB']) {
    it(`creates plants in ${store}, and reports every failure in the same format`, async function () {
      const env = store === 'memory' ? {} : { MONGODB_URI: await newDatabase(this) };
      const port = await freePort();
      terminal.start('exec npm start', { PORT: `${port}`, ...env });
      const address = `http://127.0.0.1:${port}`;
      await terminal.run(`curl -s --retry 99 --retry-connrefused --retry-delay 1 ${address}`);
      for (const [token, body, expected, type = 'application/json'] of REQUESTS) {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type };
        const response = await postPlant(address, body, headers);
        expect(await response.json()).to.deep.equal(expected);
      }
    });
  }

  it('passes its suite with both stores', async function () {
    expect(await tested({ MONGODB_URI: await newDatabase(this) })).to.include('5 passing');
  });

  it('has a suite that catches the bug from its README', async () => {
    const { prose } = readDocument(root, page);
    const [, sound = '', broken = ''] = /replace `(.+?)` with `(.+?)`/.exec(prose) ?? [];
    const adapter = join(copy, 'memory-plant-repository.ts');
    writeFileSync(adapter, withReal(readFileSync(adapter, 'utf8'), { [sound]: broken }));
    expect(await tested()).to.include(snippet(page, '  MemoryPlantRepository'));
  });
});
