import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from 'pg';
import { violations } from './architecture.js';
import { expectPublishable } from './manifest.js';
import { type Markdown, readDocument } from './markdown.js';
import { Workplace } from './tutorial.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('A tutorial that is followed to the letter', function () {
  this.timeout(120_000);
  const places: Workplace[] = [];

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

  /** Follows a tutorial, and resolves with the place where that was done once all it made is sound. */
  async function follow(tutorial: string, ...projects: string[]): Promise<Workplace> {
    const place = followed(page(tutorial));
    await place.run('biome', 'ci', 'packages');
    await place.run('tsc', '-b', ...projects);
    expect(violations(place.folder)).to.deep.equal([]);
    for (const name of readdirSync(join(place.folder, 'packages'))) {
      expectPublishable(place.folder, name);
    }
    return place;
  }

  /** Runs the tests of packages, without the browser, the database and what only reads JSON. */
  const test = (place: Workplace, ...packages: string[]) => mocha(place, ...packages.map(testsOf));

  /** Without the project's settings, which name all of its tests. */
  const mocha = (place: Workplace, ...files: string[]) =>
    place.run('mocha', '--no-config', '--timeout', '10000', '--fail-zero', ...files);

  const testsOf = (name: string) => `packages/${name}/dist/test/**/!(*.browser|*json*).test.js`;

  it('gives a store that passes the contract suite and that the service keeps plants in', async () => {
    const place = await follow(
      'add-a-storage-adapter',
      'packages/plant-repository-files/test',
      'packages/app/test',
    );
    await test(place, 'plant-repository-files');
    await mocha(place, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    const plants = mkdtempSync(join(place.folder, 'plants-'));
    expect(await createPlant(place, { PLANTS_FOLDER: plants })).to.equal(200);
    expect(readdirSync(plants)).to.deep.equal(['9007199254740993.json']);
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/storages.ts']);
  });

  it('gives a store with a server that passes the contract suite and that the service keeps plants in', async function () {
    const place = await follow(
      'add-an-adapter-with-a-server',
      'packages/plant-repository-postgres/test',
      'packages/app/test',
    );
    await place.run(
      'mocha',
      '--no-config',
      'packages/app/dist/test/configuration/all-settings.docs.test.js',
    );
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/storages.ts']);
    const tested = await test(place, 'plant-repository-postgres');
    if (!/[1-9]\d* passing/.test(tested)) {
      // With `CI` set they have failed.
      process.stderr.write('\n*** NO POSTGRESQL: the tests of its tutorial did not run. ***\n\n');
      return this.skip();
    }
    const database = startNode(place, 'packages/plant-repository-postgres/dist/test/command.js');
    try {
      const line = await printedLine(database, /^POSTGRES_URL/);
      const url = line.split("'")[1] ?? '';
      expect(await createPlant(place, { POSTGRES_URL: url })).to.equal(200);
      expect(await plantsIn(url)).to.deep.equal([
        { id: '9007199254740993', name: 'Monstera deliciosa' },
      ]);
    } finally {
      await end(database);
    }
  });

  it('gives a token verifier that passes the contract suite', async () => {
    const place = await follow(
      'add-a-token-verifier',
      'packages/token-verifier-introspection/test',
      'packages/app/test',
    );
    await test(place, 'token-verifier-introspection');
    await mocha(place, 'packages/app/dist/test/configuration/all-settings.docs.test.js');
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/verifiers.ts']);
  });

  it('gives an operation, and leaves those there were as they are', async () => {
    const place = await follow(
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

/** Starts the service of a workplace, and sends the plant of the `curl` line that it prints. Resolves with the status. */
async function createPlant(place: Workplace, storage: NodeJS.ProcessEnv): Promise<number> {
  const service = startNode(place, 'packages/app/bin/plant-store.js', { PORT: '0', ...storage });
  try {
    const curl = await printedLine(service, /^curl/);
    const [, url = '', authorization = ''] = /^curl -sS (\S+) -H '[^:]+: ([^']+)'/.exec(curl) ?? [];
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"id":9007199254740993,"name":"Monstera deliciosa"}',
    });
    return status;
  } finally {
    await end(service);
  }
}

function startNode({ folder }: Workplace, script: string, env: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, [script], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
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

async function printedLine({ stdout }: ChildProcess, pattern: RegExp): Promise<string> {
  if (stdout === null) throw new Error('the service has no output');
  for await (const line of createInterface(stdout)) if (pattern.test(line)) return line;
  throw new Error(`the service has not printed ${pattern}`);
}
