import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { expectPublishable, type Manifest, readManifest } from './manifest.js';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../..', import.meta.url));
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const folders = readdirSync(join(root, 'packages'));

const manifests = new Map(
  folders.map((folder): [string, Manifest] => [
    folder,
    readManifest(join(root, 'packages', folder)),
  ]),
);

describe('The manifests of the packages', () => {
  for (const [folder, { name }] of manifests) {
    it(`have all fields that npm shows for ${name}`, () => expectPublishable(root, folder));
  }
});

describe('The packages, packed and installed elsewhere', function () {
  this.timeout(120_000);

  let place: string;
  const running: ChildProcess[] = [];

  before(async () => {
    place = mkdtempSync(join(tmpdir(), 'plant-store-packed-'));
    const workspaces = folders.flatMap((folder) => ['--workspace', `packages/${folder}`]);
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', place, ...workspaces];
    await run(npm, pack, { cwd: root });
    const tarballs = readdirSync(place).map((name) => `./${name}`);
    writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    const others = ['@koa/cors@5.0.0', 'koa-mount@4.2.0', '@types/koa__cors', '@types/koa-mount'];
    await run(npm, ['install', ...quiet, ...tarballs, ...others], { cwd: place });
  });

  after(() => {
    for (const child of running) child.kill();
    rmSync(place, { recursive: true });
  });

  const installed = (...path: string[]) => join(place, 'node_modules', ...path);

  /** Starts a program and resolves with the first line of its output that matches. */
  async function printed(pattern: RegExp, ...command: string[]): Promise<string> {
    const child = spawn(process.execPath, command, {
      cwd: place,
      env: { PATH: process.env.PATH, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    for await (const line of createInterface(child.stdout)) if (pattern.test(line)) return line;
    throw new Error(`${command.join(' ')} has not printed ${pattern}`);
  }

  it('contain everything they need, and no sources, tests or build information', () => {
    for (const manifest of manifests.values()) {
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

  it('start the service with its command', async () => {
    expect(existsSync(installed('.bin', 'plant-store'))).to.equal(true);
    const line = await printed(/listens on/, installed('plant-store', 'bin', 'plant-store.js'));
    const address = /http:\S+/.exec(line)?.[0];
    expect((await fetch(`${address}/readyz`)).status).to.equal(200);
    expect((await fetch(`${address}/docs/plant.svg`)).status).to.equal(200);
  });

  describe('in a server of your own', () => {
    const programs = ['server', 'middleware', 'mounted'];

    before(async () => {
      for (const name of programs) {
        cpSync(join(root, `test/embedding/${name}.ts`), join(place, `${name}.ts`));
      }
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
      const sources = programs.map((name) => `${name}.ts`);
      const { stdout } = await run(process.execPath, [tsc, ...strict, ...sources], {
        cwd: place,
      }).catch((error) => error);
      expect(stdout).to.equal('');
    });

    for (const [program, path, header] of [
      ['server', '/plants', 'x-request-id'],
      ['middleware', '/plants', 'server-timing'],
      ['mounted', '/nursery/plants', 'x-request-id'],
    ] as const) {
      it(`create a plant: ${program}`, async () => {
        const { port, token } = JSON.parse(await printed(/^\{/, `${program}.js`));
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
