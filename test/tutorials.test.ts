import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from 'pg';
import { violations } from './architecture.js';
import { expectPublishable } from './manifest.js';
import { type Markdown, readDocument } from './markdown.js';
import { withReal } from './snippets/snippet.js';
import { Terminal } from './snippets/terminal.js';
import { Workplace } from './tutorial.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Commands that run until they are stopped. */
const STARTS = /^(?:\w+=\S+ )*(?:npm start|node .*)$/m;

/** What has become of a tutorial. */
interface Followed {
  readonly place: Workplace;
  readonly terminal: Terminal;
  readonly printed: string;
  /** The commands that start something. */
  readonly start: string;
}

describe('A tutorial that is followed to the letter', function () {
  this.timeout(120_000);
  const places: Workplace[] = [];
  const terminals: Terminal[] = [];

  afterEach(() => Promise.all(terminals.splice(0).map((terminal) => terminal.stop())));
  after(() => {
    for (const place of places) place.remove();
  });

  const page = (tutorial: string) => readDocument(root, `docs/tutorials/${tutorial}/README.md`);

  function followed(tutorial: Markdown, project = root): Workplace {
    const place = new Workplace(project);
    places.push(place);
    place.follow(tutorial);
    return place;
  }

  /**
   * Follows a tutorial: makes its changes, and runs every command but those that start something. Resolves once
   * all it made is sound.
   */
  async function follow(tutorial: string, ...projects: string[]): Promise<Followed> {
    const text = page(tutorial);
    const place = followed(text);
    const terminal = new Terminal(place.folder);
    terminals.push(terminal);
    const blocks = text.blocks.filter(({ language }) => language === 'sh');
    const starts = blocks.filter((block) => STARTS.test(block.text));
    await place.run('biome', 'ci', 'packages');
    let printed = '';
    for (const block of blocks.filter((it) => !starts.includes(it))) {
      printed += await terminal.run(block.text, environment(projects));
    }
    expect(violations(place.folder)).to.deep.equal([]);
    for (const name of readdirSync(join(place.folder, 'packages'))) {
      expectPublishable(place.folder, name);
    }
    return { place, terminal, printed, start: starts.map((block) => block.text).join('') };
  }

  const environment = (projects: readonly string[]) => ({
    CI: process.env.CI ?? '',
    PROJECTS: projects.join(' '),
    PORT: '0',
  });

  /** Runs the tests of packages, without the browser, the database and what only reads JSON. */
  const test = (place: Workplace, ...packages: string[]) => mocha(place, ...packages.map(testsOf));

  /** Without the project's settings, which name all of its tests. */
  const mocha = (place: Workplace, ...files: string[]) =>
    place.run('mocha', '--no-config', '--timeout', '10000', '--fail-zero', ...files);

  const testsOf = (name: string) => `packages/${name}/dist/test/**/!(*.browser|*json*).test.js`;

  it('gives a store that passes the contract suite and that the service keeps plants in', async () => {
    const projects = ['packages/plant-repository-files/test', 'packages/app/test'];
    const { place, terminal, start } = await follow('add-a-storage-adapter', ...projects);
    await mocha(place, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    const plants = join(place.folder, 'plants');
    await createPlant(terminal, withReal(start, { '/tmp/plants': plants }), environment(projects));
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/storages.ts']);
  });

  it('gives a store with a server that passes the contract suite and that the service keeps plants in', async function () {
    const projects = ['packages/plant-repository-postgres/test', 'packages/app/test'];
    const { place, terminal, printed, start } = await follow(
      'add-an-adapter-with-a-server',
      ...projects,
    );
    await mocha(place, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/storages.ts']);
    if (!/[1-9]\d* passing/.test(printed)) {
      // With `CI` set they have failed.
      process.stderr.write('\n*** NO POSTGRESQL: the tests of its tutorial did not run. ***\n\n');
      return this.skip();
    }
    const database = terminal.start(start, environment(projects));
    const [line] = await database.printed(/^POSTGRES_URL=.*(?=\n)/m);
    await createPlant(terminal, `${line} npm start`, environment(projects));
    expect(await plantsIn(line.split("'")[1] ?? '')).to.deep.equal([
      { id: '9007199254740993', name: 'Monstera deliciosa' },
    ]);
  });

  it('gives a token verifier that passes the contract suite', async () => {
    const { place } = await follow(
      'add-a-token-verifier',
      'packages/token-verifier-introspection/test',
      'packages/app/test',
    );
    await mocha(place, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/verifiers.ts']);
  });

  it('gives an operation, and leaves those there were as they are', async () => {
    const { place } = await follow(
      'add-an-operation',
      'packages/domain/test',
      'packages/plant-repository-memory/test',
      'packages/http-koa/test',
    );
    await test(place, 'domain', 'plant-repository-memory', 'http-koa');
  });

  for (const tutorial of readdirSync(join(root, 'docs/tutorials'))) {
    it(`changes nothing where it has been followed before: ${tutorial}`, () => {
      const text = page(tutorial);
      const once = followed(text);
      const twice = followed(text, once.folder);
      for (const { file } of text.blocks) {
        if (file !== undefined) expect(textOf(twice, file), file).to.equal(textOf(once, file));
      }
    });
  }
});

/** The source files that were there before, and are no longer as they were. */
function changedSources({ folder }: Workplace): string[] {
  return readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((file) => `packages/${file}`)
    .filter((file) => /^packages\/[\w-]+\/(?:src|test)\/.*\.ts$/.test(file))
    .filter(
      (file) => readFileSync(join(root, file), 'utf8') !== readFileSync(join(folder, file), 'utf8'),
    );
}

const textOf = ({ folder }: Workplace, file: string) => readFileSync(join(folder, file), 'utf8');

/** Starts the service, and runs the `curl` line that it prints. */
async function createPlant(terminal: Terminal, start: string, env: Record<string, string>) {
  const [curl] = await terminal.start(start, env).printed(/^curl .*(?=\n)/m);
  expect(await terminal.run(curl)).to.include('"name":"Monstera deliciosa"');
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
