import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/test-servers/loopback';
import { postPlant } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { readDocument } from '../support/markdown.js';
import { root, temporaryFolder } from '../support/root.js';
import { run } from '../support/run.js';
import { snippet, withReal } from './support/snippet.js';
import { Terminal } from './support/terminal.js';

const folder = join(root, 'examples/smallest');
const page = 'examples/smallest/README.md';

/** A token and a body, and the response. */
const REQUESTS: readonly (readonly [token: string, body: string, response: unknown])[] = [
  ['demo', '{"id":1,"name":"Monstera","tag":"tropical"}', { name: 'Monstera', tag: 'tropical' }],
  ['demo', '{"id":1,"name":"Ficus"}', { error: 4006, message: 'a plant with this id exists' }],
  ['demo', '{"id":1.5,"name":"F"}', { error: 4005, message: 'id must be a safe integer' }],
  ['demo', '{', { error: 4004, message: 'the body is not valid JSON' }],
  ['other', '{', { error: 4011, message: 'invalid token' }],
];

describe('The smallest plant store', () => {
  const terminal = new Terminal();
  after(() => terminal.stop());

  it('has at most 155 lines', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
    expect(text.split('\n').length - 1).to.be.within(1, 155);
  });

  it('has a suite that catches the bug from its README', async function () {
    this.timeout(60_000);
    const { prose } = readDocument(root, page);
    const [, sound = '', broken = ''] = /replace `(.+?)` with `(.+?)`/.exec(prose) ?? [];
    const copy = temporaryFolder();
    for (const name of ['node_modules', 'package.json', 'tsconfig.base.json'])
      symlinkSync(join(root, name), join(copy, name));
    const own = join(copy, 'examples/smallest');
    cpSync(folder, own, { recursive: true, filter: (source) => !source.endsWith('dist') });
    const adapter = join(own, 'memory-plant-repository.ts');
    writeFileSync(adapter, withReal(readFileSync(adapter, 'utf8'), { [sound]: broken }));
    const ran = run('bash', ['-c', snippet(page, 'npx tsc -b examples/smallest')], {
      cwd: copy,
    });
    const { stdout } = await ran.catch((error) => error);
    const shown = stdout.replaceAll(/ \(\d+ms\)/g, '');
    expect(shown).to.include(snippet(page, '  MemoryPlantRepository'));
  });

  it('creates plants, and reports every failure in the same format', async () => {
    const port = await freePort();
    terminal.start(`exec node "${folder}/dist/main.js"`, { PORT: `${port}` });
    const address = `http://127.0.0.1:${port}`;
    await terminal.run(`curl -s --retry 99 --retry-connrefused --retry-delay 1 ${address}`);
    for (const [token, body, expected] of REQUESTS) {
      const response = await postPlant(address, body, { Authorization: `Bearer ${token}` });
      expect(await response.json()).to.deep.equal(expected);
    }
  });
});
