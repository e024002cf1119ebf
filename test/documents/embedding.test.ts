import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { watch } from '@plant-store/service-process';
import { expect } from 'chai';
import { type Manifest, readManifest } from '../manifest.js';
import { root } from '../root.js';
import { examples } from './support/examples.js';
import { installPacked } from './support/packed.js';

const run = promisify(execFile);

const folders = readdirSync(join(root, 'packages'));

/** What others call first. */
const SHOWN_BY_AN_EXAMPLE = [
  'newPlant',
  'createApp',
  'createServer',
  'plantStoreRoutes',
  'MemoryPlantRepository',
  'mongoPlantRepository',
  'postgresqlPlantRepository',
  'GroupCommitPlantRepository',
  'StaticTokenVerifier',
  'JwtTokenVerifier',
  'FetchedKeys',
  'describePlantRepository',
  'describePlantReader',
  'describeTokenVerifier',
];

const manifests = folders.map((folder) => readManifest(join(root, 'packages', folder)));

describe('The packages, packed and unpacked elsewhere', function () {
  this.timeout(120_000);

  let place: string;
  const running: ChildProcess[] = [];

  before(async () => {
    place = mkdtempSync(join(tmpdir(), 'plant-store-packed-'));
    await installPacked(
      place,
      folders.map((folder) => `packages/${folder}`),
    );
    writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
  });

  after(() => {
    for (const child of running) child.kill();
    rmSync(place, { recursive: true });
  });

  const installed = (...path: string[]) => join(place, 'node_modules', ...path);

  /** Resolves with what the compiler reports about files of the place. */
  async function compile(...args: string[]): Promise<string> {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const command = [tsc, ...strict, ...args];
    const { stdout } = await run(process.execPath, command, { cwd: place }).catch((error) => error);
    return stdout;
  }

  /** Starts a program. Resolves with the first match in its output. */
  async function printed(pattern: RegExp, ...command: string[]): Promise<string> {
    const child = spawn(process.execPath, command, {
      cwd: place,
      env: { PATH: process.env.PATH, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    return (await watch(child).printed(pattern))[0];
  }

  it('contain everything they need, and no sources, tests or build information', () => {
    for (const manifest of manifests) {
      const { name } = manifest;
      const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
      expect(files).to.include.members(['package.json', 'README.md', 'LICENSE']);
      for (const file of entriesOf(manifest)) expect(files, name).to.include(normalize(file));
      expect(
        files.filter((file) => /tsbuildinfo|^src|test/.test(file)),
        name,
      ).to.deep.equal([]);
    }
  });

  it('have doc comments whose examples compile', async () => {
    const shown = examples();
    expect(shown.map(({ name }) => name)).to.include.members(SHOWN_BY_AN_EXAMPLE);
    for (const { name, code } of shown) writeFileSync(join(place, `${name}.example.ts`), code);
    const files = shown.map(({ name }) => `${name}.example.ts`);
    expect(await compile('--noEmit', ...files)).to.equal('');
  });

  it('start the service with its command', async () => {
    const { bin } = readManifest(installed('plant-store'));
    const command = installed('plant-store', bin?.['plant-store'] ?? '');
    const address = await printed(/http:\S+(?=\s)/, command);
    expect((await fetch(`${address}/readyz`)).status).to.equal(200);
    expect((await fetch(`${address}/docs/plant.svg`)).status).to.equal(200);
  });

  describe('in a server of your own', () => {
    const programs = ['server', 'middleware', 'mounted'];

    before(async () => {
      for (const name of programs) {
        cpSync(join(root, `test/documents/embedding/${name}.ts`), join(place, `${name}.ts`));
      }
      expect(await compile(...programs.map((name) => `${name}.ts`))).to.equal('');
    });

    for (const [program, path, header] of [
      ['server', '/plants', 'x-request-id'],
      ['middleware', '/plants', 'server-timing'],
      ['mounted', '/nursery/plants', 'x-request-id'],
    ] as const) {
      it(`create a plant: ${program}`, async () => {
        const { port, token } = JSON.parse(await printed(/^\{.*\}(?=\n)/m, `${program}.js`));
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{"id":1,"name":"Monstera"}',
        });
        expect(await response.json()).to.deep.equal({ name: 'Monstera' });
        expect(response.headers.get(header)).to.be.a('string');
      });
    }
  });
});

/** Returns every file to which a manifest refers. */
function entriesOf({ exports, bin = {} }: Manifest): string[] {
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  );
  return [...entries, ...Object.values(bin)];
}
