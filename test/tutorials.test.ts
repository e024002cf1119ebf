import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needsPostgresql } from '@plant-store/postgresql';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { Client } from 'pg';
import { packageFiles, violations } from './architecture.js';
import { expectPublishable } from './manifest.js';
import { type Markdown, readDocument } from './markdown.js';
import { withReal } from './snippets/snippet.js';
import { Terminal } from './snippets/terminal.js';
import { ProjectCopy } from './tutorial.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tutorials = readdirSync(join(root, 'docs/tutorials'));

/** Commands that run until they are stopped. */
const STARTS = /^(?:\w+=\S+ )*(?:npm start|npm run postgresql)$/m;

/** A tutorial that was followed. */
interface Followed {
  readonly copy: ProjectCopy;
  readonly terminal: Terminal;
  /** The commands that run until they are stopped. */
  readonly start: string;
}

describe('A tutorial that is followed exactly', function () {
  this.timeout(240_000);
  const copies: ProjectCopy[] = [];
  const terminals: Terminal[] = [];

  afterEach(() => Promise.all(terminals.splice(0).map((terminal) => terminal.stop())));
  after(() => {
    for (const copy of copies) copy.remove();
  });

  const page = (tutorial: string) => readDocument(root, `docs/tutorials/${tutorial}/README.md`);

  function followed(tutorial: Markdown, project = root): ProjectCopy {
    const copy = new ProjectCopy(project);
    copies.push(copy);
    copy.follow(tutorial);
    return copy;
  }

  /**
   * Follows a tutorial in a copy of the project: makes its changes, and runs every command that ends by itself. Then
   * checks the result.
   */
  async function follow(tutorial: string, ...projects: string[]): Promise<Followed> {
    const text = page(tutorial);
    const copy = followed(text);
    const terminal = new Terminal(copy.folder);
    terminals.push(terminal);
    const blocks = text.blocks.filter(({ language }) => language === 'sh');
    const starts = blocks.filter((block) => STARTS.test(block.text));
    await copy.run('biome', 'ci', 'packages');
    for (const block of blocks.filter((it) => !starts.includes(it))) {
      await terminal.run(block.text, environment(projects));
    }
    expect(violations(packageFiles(copy.folder))).to.deep.equal([]);
    for (const name of readdirSync(join(copy.folder, 'packages'))) {
      expectPublishable(copy.folder, name);
    }
    return { copy, terminal, start: starts.map((block) => block.text).join('') };
  }

  const environment = (projects: readonly string[]) => ({
    CI: process.env.CI ?? '',
    PROJECTS: projects.join(' '),
    PORT: '0',
  });

  /** Runs the tests of packages, without those of the browser and of JSON. */
  const test = (copy: ProjectCopy, ...packages: string[]) => mocha(copy, ...packages.map(testsOf));

  /** Runs Mocha without the configuration of the project, which names all of its tests. */
  const mocha = (copy: ProjectCopy, ...files: string[]) =>
    copy.run('mocha', '--no-config', '--timeout', '10000', '--fail-zero', ...files);

  const testsOf = (name: string) => `packages/${name}/dist/test/**/!(*.browser|*json*).test.js`;

  it('results in a storage adapter that passes the contract suite and works in the service', async () => {
    const projects = ['packages/plant-repository-files/test', 'packages/app/test'];
    const { copy, terminal, start } = await follow('add-a-storage-adapter', ...projects);
    await mocha(copy, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    const plants = join(copy.folder, 'plants');
    await createPlant(terminal, withReal(start, { '/tmp/plants': plants }), environment(projects));
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    const exported = await terminal.run(
      'node packages/app/bin/plant-store.js export 2>&1 || echo "exit $?"',
      { ...environment([]), PLANTS_FOLDER: plants, ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 },
    );
    expect(exported).to.match(/STORAGE: expected a storage that can be read.*\nexit 2\n/);
    expect(changedSources(copy, 'packages/app/src/configuration/storages.ts')).to.deep.equal([]);
  });

  it('shows a storage adapter with a server that passes the contract suite and works in the service', async function () {
    needsPostgresql.call(this);
    const projects = [
      'packages/plant-repository-postgresql/test',
      'packages/plant-repository-sql/test',
      'packages/app/test',
    ];
    const { copy, terminal, start } = await follow('add-an-adapter-with-a-server', ...projects);
    expect(changedSources(copy)).to.deep.equal([]);
    const database = terminal.start(start, environment(projects));
    const [line] = await database.printed(/^POSTGRESQL_URI=.*(?=\n)/m);
    await createPlant(terminal, `${line} npm start`, environment(projects));
    expect(await plantsIn(line.split("'")[1] ?? '')).to.deep.equal([
      { id: '9007199254740993', name: 'Monstera deliciosa' },
    ]);
  });

  it('results in a token verifier that passes the contract suite', async () => {
    const { copy } = await follow(
      'add-a-token-verifier',
      'packages/token-verifier-introspection/test',
      'packages/app/test',
    );
    await mocha(copy, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    expect(changedSources(copy, 'packages/app/src/configuration/verifiers.ts')).to.deep.equal([]);
  });

  it('results in a new operation that the service has, and does not change the others', async () => {
    const projects = ['packages/domain/test', 'packages/http-koa/test', 'packages/app'];
    const { copy, terminal, start } = await follow('add-an-operation', ...projects);
    await test(copy, 'domain', 'http-koa');
    const create = await createPlant(terminal, start, environment(projects));
    const [authorization] = /'Authorization: [^']+'/.exec(create) ?? [];
    const [plants] = /http:[^' ]+/.exec(create) ?? [];
    const shown = await terminal.run(`curl -s -H ${authorization} ${plants}/9007199254740993`);
    expect(shown).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
  });

  it('leaves every test green that its changes affect, also after the other tutorials', async function () {
    this.timeout(400_000);
    const copy = new ProjectCopy(root);
    copies.push(copy);
    for (const tutorial of tutorials) copy.follow(page(tutorial));
    const terminal = new Terminal(copy.folder);
    terminals.push(terminal);
    for (const text of licences(tutorials.map(page))) await terminal.run(text, environment([]));
    await copy.run('biome', 'ci');
    await copy.run('tsc', '-b');
    await mocha(
      copy,
      'packages/app/dist/test/configuration/*.test.js',
      ...['architecture', 'decisions', 'docs', 'snippets'].map((it) => `test/dist/${it}.test.js`),
    );
    await test(copy, 'plant-repository-files', 'token-verifier-introspection');
    for (const name of readdirSync(join(copy.folder, 'packages'))) {
      expectPublishable(copy.folder, name);
    }
  });

  for (const tutorial of tutorials) {
    it(`changes nothing when it is followed a second time: ${tutorial}`, () => {
      const text = page(tutorial);
      const once = followed(text);
      const twice = followed(text, once.folder);
      for (const { file } of text.blocks) {
        if (file !== undefined) expect(textOf(twice, file), file).to.equal(textOf(once, file));
      }
    });
  }
});

/** Returns the commands that copy the licence into the new packages. */
function licences(tutorials: readonly Markdown[]): string[] {
  return tutorials.flatMap(({ blocks }) =>
    blocks.flatMap(({ text }) => /^cp LICENSE .*$/m.exec(text) ?? []),
  );
}

/** Returns the existing source files that were changed, except these. */
function changedSources({ folder }: ProjectCopy, ...expected: string[]): string[] {
  return readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((file) => `packages/${file}`)
    .filter((file) => /^packages\/[\w-]+\/(?:src|test)\/.*\.ts$/.test(file))
    .filter((file) => !expected.includes(file))
    .filter(
      (file) => readFileSync(join(root, file), 'utf8') !== readFileSync(join(folder, file), 'utf8'),
    );
}

const textOf = ({ folder }: ProjectCopy, file: string) => readFileSync(join(folder, file), 'utf8');

/** Starts the service, and creates a plant with the `curl` line that it prints. Resolves with that line. */
async function createPlant(terminal: Terminal, start: string, env: Record<string, string>) {
  const [curl] = await terminal.start(start, env).printed(/^curl .*(?=\n)/m);
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
