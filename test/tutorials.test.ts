import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsPostgresql } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { Client } from 'pg';
import { packageFiles, violations } from './architecture.js';
import { expectPublishable } from './manifest.js';
import { type Markdown, readDocument } from './markdown.js';
import { root, withReal } from './snippets/snippet.js';
import { Terminal } from './snippets/terminal.js';
import { followed, ProjectCopy } from './tutorial.js';

/** Commands that run until they are stopped. */
const STARTS = /^(?:\w+=\S+ )*(?:npm start|npm run postgresql)$/m;

/** The existing source files that a tutorial for an adapter changes. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  'add-a-storage-adapter': ['packages/app/src/configuration/storages.ts'],
  'add-a-token-verifier': ['packages/app/src/configuration/verifiers.ts'],
  'add-an-adapter-with-a-server': [],
};

/** The packages that the tutorials add or change. */
const BUILT = [
  'app',
  'domain',
  'http-koa',
  'plant-repository-files',
  'plant-repository-sql',
  'token-verifier-introspection',
].map((name) => `packages/${name}/test`);

/** The tests that a tutorial can affect. Those of the new packages are run by the commands of their tutorials. */
const AFFECTED = [
  'packages/domain/dist/test/*.test.js',
  'packages/http-koa/dist/test/{*,frame/*}.test.js',
  'packages/app/dist/test/configuration/*.test.js',
  'test/dist/@(architecture|decisions|docs|snippets).test.js',
];

const tutorials = new Map(
  readdirSync(join(root, 'docs/tutorials')).map((name) => [
    name,
    readDocument(root, `docs/tutorials/${name}/README.md`),
  ]),
);

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

describe('A tutorial, followed alone', () => {
  for (const [name, page] of tutorials) {
    it(`follows the architecture, and changes nothing when it is followed a second time: ${name}`, () => {
      const files = followed(page, textOf);
      const sources = [...files].filter(([file]) => file.startsWith('packages/'));
      expect(violations(new Map([...packageFiles(root), ...sources]))).to.deep.equal([]);
      expect(followed(page, (file) => files.get(file) ?? '')).to.deep.equal(files);
    });
  }

  for (const [name, expected] of Object.entries(CHANGED)) {
    it(`changes no other source than the one that knows the adapters: ${name}`, () => {
      const changed = [...followed(tutorials.get(name) as Markdown, textOf)]
        .filter(([file]) => /^packages\/[\w-]+\/(?:src|test)\/.*\.ts$/.test(file))
        .filter(([file, text]) => existsSync(join(root, file)) && textOf(file) !== text);
      expect(changed.map(([file]) => file)).to.deep.equal(expected);
    });
  }
});

describe('The tutorials, followed in one copy of the project', function () {
  this.timeout(240_000);
  let copy: ProjectCopy;
  let terminal: Terminal;

  before(async () => {
    copy = new ProjectCopy(root);
    terminal = new Terminal(copy.folder);
    for (const page of tutorials.values()) {
      copy.write(followed(page, (file) => readFileSync(join(copy.folder, file), 'utf8')));
    }
    await copy.run('biome', 'ci');
    await copy.run('tsc', '-b', ...BUILT);
  });
  afterEach(() => terminal?.stop());
  after(() => copy?.remove());

  /** Runs the commands of a tutorial that end by themselves. Resolves with those that run until they are stopped. */
  async function commandsOf(name: string): Promise<string> {
    const blocks = (tutorials.get(name)?.blocks ?? []).filter(({ language }) => language === 'sh');
    for (const { text } of blocks.filter((it) => !STARTS.test(it.text))) {
      await terminal.run(text, environment(name));
    }
    return blocks.map(({ text }) => (STARTS.test(text) ? text : '')).join('');
  }

  it('results in a storage adapter that passes the contract suite and works in the service', async () => {
    const start = await commandsOf('add-a-storage-adapter');
    const plants = join(copy.folder, 'plants');
    await createPlant(terminal, withReal(start, { '/tmp/plants': plants }));
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    const exported = await terminal.run(
      'node packages/app/bin/plant-store.js export 2>&1 || echo "exit $?"',
      { PLANTS_FOLDER: plants, ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 },
    );
    expect(exported).to.match(/STORAGE: expected a storage that can be read.*\nexit 2\n/);
  });

  it('shows a storage adapter with a server that works in the service', async function () {
    needsPostgresql.call(this);
    const database = terminal.start(await commandsOf('add-an-adapter-with-a-server'));
    const [line] = await database.printed(/^POSTGRESQL_URI=.*(?=\n)/m);
    await createPlant(terminal, `${line} npm start`);
    expect(await plantsIn(line.split("'")[1] ?? '')).to.deep.equal([
      { id: '9007199254740993', name: 'Monstera deliciosa' },
    ]);
  });

  it('results in a token verifier that passes the contract suite', () =>
    commandsOf('add-a-token-verifier'));

  it('results in a new operation of the service', async () => {
    const create = await createPlant(terminal, await commandsOf('add-an-operation'));
    const [authorization] = /'Authorization: [^']+'/.exec(create) ?? [];
    const [plants] = /http:[^' ]+/.exec(create) ?? [];
    const shown = await terminal.run(`curl -s -H ${authorization} ${plants}/9007199254740993`);
    expect(shown).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
  });

  it('leaves every test green that its changes affect', async () => {
    await copy.run('mocha', '--no-config', '--timeout', '10000', '--fail-zero', ...AFFECTED);
    for (const name of readdirSync(join(copy.folder, 'packages'))) {
      expectPublishable(copy.folder, name);
    }
  });
});

/** The tests of the guided reading are tests of the project, so they are only listed. */
function environment(name: string): Record<string, string> {
  return { MOCHA_FLAGS: name === 'add-an-adapter-with-a-server' ? '--dry-run' : '' };
}

/** Starts the service, and creates a plant with the `curl` line that it prints. Resolves with that line. */
async function createPlant(terminal: Terminal, start: string): Promise<string> {
  const [curl] = await terminal.start(start, { PORT: '0' }).printed(/^curl .*(?=\n)/m);
  expect(await terminal.run(curl)).to.include('"name":"Monstera deliciosa"');
  return curl;
}

async function plantsIn(connectionString: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<object>(
      `SELECT id, convert_from(name, 'UTF8') AS name FROM plants`,
    );
    return rows;
  } finally {
    await client.end();
  }
}
