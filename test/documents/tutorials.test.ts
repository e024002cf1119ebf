import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsPostgresql } from '@plant-store/test-servers/postgresql';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { root } from '../support/root.js';
import { run } from '../support/run.js';
import { followed, tutorials } from '../support/tutorial.js';
import { ProjectCopy } from './support/project-copy.js';
import { withReal } from './support/snippet.js';
import { Terminal } from './support/terminal.js';

/** Commands that run until they are stopped. */
const STARTS = /^(?:\w+=\S+ )*npm start$/m;

/** The package that the first tutorial adds. */
const STORE = 'packages/production/plant-repository-files';

/** No tutorial changes what these tests are about. */
const NOT_CHANGED =
  '{packages/{explorer,faulty-network,plant-repository-{mongodb,postgresql}}/**,benchmarks/**}';

describe('The tutorials, followed in one copy of the project', function () {
  this.timeout(900_000);
  let copy: ProjectCopy;
  let terminal: Terminal;

  before(async () => {
    copy = new ProjectCopy(root);
    terminal = new Terminal(copy.folder);
    for (const page of tutorials.values()) {
      copy.write(followed(page, (file) => readFileSync(join(copy.folder, file), 'utf8')));
    }
    await copy.updateLock();
    await copy.run('biome', 'ci');
    await copy.run('tsc', '-b');
  });
  afterEach(() => terminal?.stop());

  /** Runs the commands of a tutorial that end by themselves. Resolves with those that run until they are stopped. */
  async function commandsOf(name: string): Promise<string> {
    const blocks = (tutorials.get(name)?.blocks ?? []).filter(({ language }) => language === 'sh');
    for (const { text } of blocks.filter((it) => !STARTS.test(it.text))) {
      await terminal.run(text);
    }
    return blocks.map(({ text }) => (STARTS.test(text) ? text : '')).join('');
  }

  it('result in a store that passes the suite and works', async () => {
    const start = await commandsOf('add-a-store');
    const plants = join(copy.folder, 'plants');
    await createPlant(terminal, withReal(start, { '/tmp/plants': plants }));
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    const exported = await terminal.run(
      'node packages/production/service/bin/plant-store.js export 2>&1 || echo "exit $?"',
      { PLANTS_FOLDER: plants, ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 },
    );
    expect(exported).to.match(/STORAGE: this store cannot be read.*\nexit 2\n/);
  });

  it('result in tests that catch the bugs that the page introduces', async () => {
    const killed = await testedWith(copy, (it) => it.replaceAll(/^.*disk\.flush\(.*\n/gm, ''));
    expect(killed).to.match(
      /^ +\d\) keeps every plant reported as stored or taken when .* killed$/m,
    );
    const lost = await testedWith(copy, (it) =>
      it.replaceAll('new OutcomeUnknownError', 'new StoreUnavailableError'),
    );
    expect(lost).to.match(/^ +\d\) reports a true outcome after a lost acknowledgement$/m);
  });

  it('leave npm run database able to start a database for the service', async function () {
    needsPostgresql.call(this);
    const database = terminal.start('npm run database -- postgresql');
    const [line] = await database.printed(/^POSTGRESQL_URI=.*(?=\n)/m);
    await createPlant(terminal, `${line} npm start`);
  });

  it('result in a new operation of the service', async () => {
    const create = await createPlant(terminal, await commandsOf('add-an-operation'));
    const [authorization] = /'Authorization: [^']+'/.exec(create) ?? [];
    const [plants] = /http:[^' ]+/.exec(create) ?? [];
    const shown = await terminal.run(`curl -s -H ${authorization} ${plants}/9007199254740993`);
    expect(shown).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
  });

  it('leave npm test passing', async () => {
    const flags = ['--retries', '1', '--reporter', 'dot', '--ignore', NOT_CHANGED];
    await run(process.execPath, ['scripts/test.js', 'built', ...flags], { cwd: copy.folder });
  });
});

/** Resolves with what Mocha prints about the tests of the new package, after a change of one of its source files. */
async function testedWith(copy: ProjectCopy, change: (source: string) => string): Promise<string> {
  const file = `${STORE}/src/plant-file.ts`;
  const source = readFileSync(join(copy.folder, file), 'utf8');
  const output = (failed: unknown) => `${failed}`;
  copy.write(new Map([[file, change(source)]]));
  // The compiler reports what is unused, and emits.
  await copy.run('tsc', '-b', STORE).catch(output);
  const results = await copy.run('mocha', `${STORE}/dist/test/*.test.js`).catch(output);
  copy.write(new Map([[file, source]]));
  await copy.run('tsc', '-b', STORE);
  return results;
}

/** Starts the service, and creates a plant with the `curl` line that it prints. Resolves with that line. */
async function createPlant(terminal: Terminal, start: string): Promise<string> {
  const [curl] = await terminal
    .start(start, { PORT: '0', LOG_FORMAT: 'pretty' })
    .printed(/^curl .*(?=\n)/m);
  expect(await terminal.run(curl)).to.include('"name":"Monstera deliciosa"');
  return curl;
}
