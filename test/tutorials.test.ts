import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
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
    await mocha(place, 'packages/app/dist/test/configuration/settings.docs.test.js');
    const { status, files } = await createPlant(place);
    expect(status).to.equal(200);
    expect(files).to.deep.equal(['9007199254740993.json']);
    expect(changedSources(place)).to.deep.equal(['packages/app/src/configuration/storages.ts']);
  });

  it('gives a token verifier that passes the contract suite', async () => {
    const place = await follow(
      'add-a-token-verifier',
      'packages/token-verifier-introspection/test',
      'packages/app/test',
    );
    await test(place, 'token-verifier-introspection');
    await mocha(place, 'packages/app/dist/test/configuration/settings.docs.test.js');
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

/** Starts the service of a workplace on files, and pastes the `curl` line that it prints. */
async function createPlant({ folder }: Workplace) {
  const plants = mkdtempSync(join(folder, 'plants-'));
  const service: ChildProcess = spawn(process.execPath, ['packages/app/bin/plant-store.js'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', PLANTS_FOLDER: plants },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  try {
    const curl = await printedLine(service, /^curl/);
    const [, url = '', authorization = ''] = /^curl -sS (\S+) -H '[^:]+: ([^']+)'/.exec(curl) ?? [];
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"id":9007199254740993,"name":"Monstera deliciosa"}',
    });
    return { status: response.status, files: readdirSync(plants) };
  } finally {
    service.kill();
    await ended;
  }
}

async function printedLine({ stdout }: ChildProcess, pattern: RegExp): Promise<string> {
  if (stdout === null) throw new Error('the service has no output');
  for await (const line of createInterface(stdout)) if (pattern.test(line)) return line;
  throw new Error(`the service has not printed ${pattern}`);
}
