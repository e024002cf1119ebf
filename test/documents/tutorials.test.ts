import { readdirSync } from 'node:fs';
import { needsPostgresql } from '@plant-store/test-servers/postgresql';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { root, temporaryFolder } from '../support/root.js';
import { run } from '../support/run.js';
import { changed, tutorials } from '../support/tutorial.js';
import { ProjectCopy } from './support/project-copy.js';
import { withReal } from './support/snippet.js';
import { Terminal } from './support/terminal.js';

/** Commands that run until they are stopped. */
const STARTS = /^(?:\w+=\S+ )*npm start$/m;

/** No tutorial changes what these tests are about. */
const NOT_CHANGED =
  '{packages/testing/{explorer,faulty-network}/**,packages/*/plant-repository-{mongodb*,postgresql}/**,benchmarks/**}';

describe('The tutorials, followed in one copy of the project', function () {
  this.timeout(900_000);
  let copy: ProjectCopy;
  let terminal: Terminal;

  before(() => {
    copy = new ProjectCopy(root);
    terminal = new Terminal(copy.folder);
  });
  afterEach(() => terminal?.stop());

  /**
   * Does what a page says, block by block, and compares what it shows. Resolves with the commands that run until they are
   * stopped.
   */
  async function follow(name: string): Promise<string> {
    const blocks = tutorials.get(name)?.blocks ?? [];
    let printed = '';
    let starts = '';
    for (const [at, { file, language, text }] of blocks.entries()) {
      if (file !== undefined) copy.change(file, (before) => changed(before, text, file));
      else if (language === 'text') expectShown(printed, text);
      else if (STARTS.test(text)) starts += text;
      else {
        const isShown = blocks[at + 1]?.language === 'text';
        printed = await terminal.run(text).catch((error: Error) => {
          // A page may show failing tests.
          if (isShown) return error.message;
          throw error;
        });
      }
      if (/^npm install$/m.test(text)) await copy.install();
    }
    await copy.run('biome', 'ci');
    return starts;
  }

  it('result in a store that passes the suite and works', async () => {
    const start = await follow('add-a-store');
    const plants = temporaryFolder();
    await createPlant(terminal, withReal(start, { '/tmp/plants': plants }));
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    const exported = await terminal.run(
      'node packages/production/service/bin/plant-store.js export 2>&1 || echo "exit $?"',
      { PLANTS_FOLDER: plants, ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 },
    );
    expect(exported).to.match(/STORAGE: this store cannot be read.*\nexit 2\n/);
  });

  it('result in a new operation of the service', async () => {
    const create = await createPlant(terminal, await follow('add-an-operation'));
    const [authorization] = /'Authorization: [^']+'/.exec(create) ?? [];
    const [plants] = /http:[^' ]+/.exec(create) ?? [];
    const shown = await terminal.run(`curl -s -H ${authorization} ${plants}/9007199254740993`);
    expect(shown).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
  });

  it('leave npm run database able to start a database for the service', async function () {
    needsPostgresql.call(this);
    const database = terminal.start('npm run database -- postgresql');
    const [line] = await database.printed(/^POSTGRESQL_URI=.*(?=\n)/m);
    await createPlant(terminal, `${line} npm start`);
  });

  it('leave npm test passing', async () => {
    const flags = ['--retries', '1', '--reporter', 'dot', '--ignore', NOT_CHANGED];
    await run(process.execPath, ['scripts/test.js', 'built', ...flags], { cwd: copy.folder });
  });
});

/** Expects the parts of a text, separated by `…`, in what commands have printed. */
function expectShown(printed: string, shown: string): void {
  const timeless = printed.replaceAll(/ \(\d+ms\)/g, '');
  for (const part of shown.split('…\n')) expect(timeless).to.include(part);
}

/** Starts the service, and creates a plant with the `curl` line that it prints. Resolves with that line. */
async function createPlant(terminal: Terminal, start: string): Promise<string> {
  const [curl] = await terminal
    .start(start, { PORT: '0', LOG_FORMAT: 'pretty' })
    .printed(/^curl .*(?=\n)/m);
  expect(await terminal.run(curl)).to.include('"name":"Monstera deliciosa"');
  return curl;
}
