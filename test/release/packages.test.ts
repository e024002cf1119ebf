import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { newDatabase } from '@plant-store/test-servers/mongod';
import { OidcIssuer, signingKey } from '@plant-store/test-servers/oidc-issuer';
import { expect } from 'chai';
import { publint } from 'publint';
import { snippet, withReal } from '../documents/support/snippet.js';
import { Terminal } from '../documents/support/terminal.js';
import { filesIn, published, readManifest, tarballOf } from '../support/manifest.js';
import { filesBelow, readDocument } from '../support/markdown.js';
import { read, root, temporaryFolder } from '../support/root.js';
import { run } from '../support/run.js';

const TSC = join(root, 'node_modules/typescript/bin/tsc');
const STRICT = ['--strict', '--target', 'es2023', '--types', 'node,mocha'];

/** What else the programs of the tests import. */
const LIBRARIES =
  '@koa/cors @types/koa__cors koa-mount @types/koa-mount koa @types/koa chai @types/chai mocha @types/mocha @types/node';

/** Mocha colours what it prints where `CI` is set. */
const PLAIN = { NO_COLOR: '1' };
/** The Node.js of the tests, without the programs that other tests of snippets replace. */
const PATH = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);

/** The packages that can be imported: all but the command. */
const libraries = published
  .filter(({ manifest }) => manifest.bin === undefined)
  .map(({ folder, manifest }) => ({ folder, name: basename(folder), id: manifest.name }));

/** The others link to a program or a test that uses them. */
const withExample = libraries.filter(({ folder }) =>
  readDocument(root, `${folder}/README.md`).blocks.some(({ language }) => language === 'ts'),
);

/** The example in the doc comment of an export, and the name of the export. */
const EXAMPLE =
  /^\/\*\*\n(?: \*.*\n)*? \* @example\n \* ```ts\n([\s\S]+?)^ \* ```\n(?: \*.*\n)*? \*\/\nexport (?:async )?(?:class|const|function) (\w+)/gm;

/** The packages whose example needs a server, or an issuer. */
const NEEDS_SERVER = /mongodb|jwt/;

/** The folders of the programs, by the format of their modules. */
type Format = 'module' | 'commonjs';
const formats: readonly Format[] = ['module', 'commonjs'];

/** The programs of docs/embedding.md: the path that each serves, and a header of its responses. */
const EMBEDDING = [
  ['server', '/plants', 'x-request-id'],
  ['middleware', '/plants', 'server-timing'],
  ['mounted', '/nursery/plants', 'x-request-id'],
] as const;

/** The line of a README that takes a test framework, and the command that runs a program with it. */
const RUNNERS = {
  Mocha: ["from '@plant-store/contract-suite/mocha'", 'mocha --reporter tap'],
  'node:test': ["from 'node:test'", 'node --test --test-reporter tap'],
  Vitest: ["from 'vitest'", 'vitest run --reporter tap-flat'],
} as const;

/** It supports Node.js 20, as these packages do. No other test needs it. */
const VITEST = '4.1.12';

/** A program of the tests that uses the packages. */
const program = (name: string) => read(`test/release/programs/${name}`);

const { version, engines } = readManifest(root);

const examples = filesBelow(join(root, 'packages'))
  .filter((file) => /\/src\/.*\.ts$/.test(file))
  .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(EXAMPLE)])
  .map(([, lines = '', name = '']) => ({ name, code: lines.replaceAll(/^ \* ?/gm, '') }));

describe('The packages, installed from their tarballs', function () {
  this.timeout(600_000);
  /** In a project outside of the workspace. */
  const terminal = new Terminal();
  const { folder } = terminal;

  before(async () => {
    await install();
    for (const format of formats) {
      mkdirSync(join(folder, format));
      terminal.write(`${format}/package.json`, JSON.stringify({ type: format }));
      const entries = libraries.map(({ id }, at) => `export * as p${at} from '${id}';\n`);
      terminal.write(`${format}/types.ts`, entries.join('') + program('extension.ts'));
      for (const [name] of EMBEDDING) {
        terminal.write(`${format}/${name}.ts`, read(`examples/embedding/${name}.ts`));
      }
    }
    terminal.write('module/entries.js', program('same-entries.js'));
    for (const { name } of withExample) terminal.write(`module/${name}.ts`, blockOf(name, 'ts'));
    for (const [at, { code }] of examples.entries()) {
      terminal.write(`module/${at}.example.ts`, code);
    }
    for (const format of formats) await compile(format, '--module', 'nodenext');
  });

  after(() => terminal.stop());

  /** Packs the packages, and installs them. Their dependencies come from the cache of npm, or from the registry. */
  async function install(): Promise<void> {
    const workspaces = published.flatMap((it) => ['--workspace', it.folder]);
    await run('npm', ['pack', ...workspaces, '--pack-destination', folder], { cwd: root });
    const packages = published.map(({ manifest }) => [
      manifest.name,
      join(folder, tarballOf(manifest, manifest.version)),
    ]);
    const versions = LIBRARIES.split(' ').map((name) => [
      name,
      readManifest(join(root, 'node_modules', name)).version,
    ]);
    const dependencies = Object.fromEntries([...versions, ...packages, ['vitest', VITEST]]);
    terminal.write('package.json', JSON.stringify({ private: true, dependencies }));
    const quick = ['--prefer-offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...quick], { cwd: folder });
  }

  /** The path of an installed package, or of one of its files. */
  const installed = (path: string) => join(folder, 'node_modules', path);

  const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    run(process.execPath, args, { cwd: folder, env: { ...process.env, ...PLAIN, ...env } });

  /** Compiles the programs of a folder, and the declarations of what they import. */
  async function compile(format: Format, ...options: readonly string[]): Promise<void> {
    const cwd = join(folder, format);
    const files = readdirSync(cwd).filter((file) => file.endsWith('.ts'));
    const compiled = run(process.execPath, [TSC, ...STRICT, ...options, ...files], { cwd });
    const { stdout } = await compiled.catch((error) => error);
    expect(stdout).to.equal('');
  }

  for (const { folder: own, manifest } of published) {
    it(`contain what they need, and nothing else: ${manifest.name}`, async () => {
      const files = filesIn(installed(manifest.name));
      const stale =
        'after a file was moved, run `git clean -dfXq packages/*/*/dist` and `npm run build`';
      expect(files, stale).to.have.members(filesOf(own, manifest.bin === undefined));
      expect(manifest).to.include({ version, license: 'MIT', type: 'module' });
      expect(manifest).to.deep.include({ engines });
      const { messages } = await publint({ pkgDir: installed(manifest.name), pack: false });
      expect(messages).to.deep.equal([]);
    });
  }

  it('have types that compile in a project with a bundler, even for extended classes', () =>
    compile('module', '--noEmit', '--module', 'preserve', '--moduleResolution', 'bundler'));

  describe('in a project of your own', () => {
    it('export the same objects to import and to require', async () => {
      const { stdout } = await node(['module/entries.js', ...libraries.map(({ id }) => id)]);
      expect(Number(stdout)).to.be.above(50);
    });

    for (const format of formats) {
      for (const [name, path, header] of EMBEDDING) {
        it(`create a plant in your own server: ${format}/${name}`, async () => {
          const started = terminal.start(`node ${format}/${name}.js`, { PATH });
          const [line] = await started.printed(/^\{.*\}(?=\n)/m);
          const { port, token } = JSON.parse(line);
          const response = await fetch(`http://127.0.0.1:${port}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: '{"id":1,"name":"Monstera"}',
          });
          expect(await response.json()).to.deep.equal({ name: 'Monstera' });
          expect(response.headers.get(header)).to.be.a('string');
        });
      }
    }

    for (const [name, [source, command]] of Object.entries(RUNNERS)) {
      it(`have suites that fail for a broken promise, a hang or an unhandled rejection: ${name}`, async () => {
        const { blocks } = readDocument(root, 'packages/testing/contract-suite/README.md');
        const lines = blocks.flatMap(({ text }) => text.split('\n'));
        const line = lines.find((it) => it.endsWith(`${source};`)) ?? '';
        const usual = lines.find((it) => it.endsWith("contract-suite/mocha';")) ?? '';
        const broken = withReal(program('broken-counters.ts'), { [usual]: line });
        terminal.write('module/broken.test.ts', broken);
        await compile('module', '--module', 'nodenext', '--skipLibCheck');
        const path = [join(folder, 'node_modules/.bin'), PATH].join(delimiter);
        const env = { ...process.env, ...PLAIN, PATH: path };
        const ran = run('bash', ['-c', `${command} module/broken.test.js`], { cwd: folder, env });
        const { stdout } = await ran.catch((error) => error);
        const results = [...stdout.matchAll(/^((?:not )?ok) .*?(\w+) as a Counter/gm)];
        expect(Object.fromEntries(results.map(([, ok, how]) => [how, ok]))).to.deep.equal({
          correct: 'ok',
          hanging: 'not ok',
          rejecting: 'not ok',
          forgetting: 'not ok',
        });
        const skipped = /is not tested with crash: it has no server.* # SKIP/i;
        for (const why of [/500 ?ms/, /out of numbers/, /not awaited/, skipped])
          expect(stdout).to.match(why);
      });
    }

    it('test a port of your own, as docs/own-port.md shows', async () => {
      const seats = { '~/seats': join(temporaryFolder(), 'seats') };
      const install = withReal(snippet('docs/own-port.md', 'cp -r examples/own-port'), seats);
      const env = { ...process.env, ...PLAIN, npm_config_prefer_offline: 'true' };
      const ran = run('bash', ['-e', '-c', `${install}npm test`], { cwd: root, env });
      const { stdout } = await ran.catch((error) => error);
      expect(stdout).to.match(/✔ catches an adapter that does not recognise its own reservation/);
      expect(stdout).to.match(/HttpSeats as a Seats[\s\S]*\d passing(?![\s\S]*failing)/);
    });
  });

  describe('print what the first example of their README shows', () => {
    /** Runs the example, with real values in place of those that it shows. */
    async function expectExample(
      name: string,
      real: Readonly<Record<string, string>> = {},
      env: NodeJS.ProcessEnv = {},
    ): Promise<void> {
      const program = `module/${name}.js`;
      const text = readFileSync(join(folder, program), 'utf8');
      terminal.write(program, withReal(text, real));
      const { stdout } = await node([program], env);
      expect(stdout).to.equal(blockOf(name, 'text'));
    }

    for (const { name } of withExample.filter((it) => !NEEDS_SERVER.test(it.name))) {
      it(name, () => expectExample(name));
    }

    it('token-verifier-jwt', async () => {
      const issuer = await OidcIssuer.start(await signingKey('1'));
      const real = { 'https://login.example': issuer.url };
      const ACCESS_TOKEN = await issuer.token();
      await expectExample('token-verifier-jwt', real, { ACCESS_TOKEN });
      await issuer.stop();
    });

    it('plant-repository-mongodb-batched', async function () {
      const shown = 'mongodb://127.0.0.1:27017/plant-store?replicaSet=rs0';
      await expectExample('plant-repository-mongodb-batched', { [shown]: await newDatabase(this) });
    });
  });

  describe('as a command', () => {
    it('serve, as its README shows', async () => {
      const serve = snippet('packages/production/service/README.md', 'ACCESS_TOKEN_SHA256=');
      const address = await terminal.serve(serve, { PATH });
      const create = snippet('packages/production/service/README.md', 'curl -sS');
      const created = await terminal.run(withReal(create, { 'http://127.0.0.1:3000': address }));
      expect(`${created}\n`).to.equal(snippet('packages/production/service/README.md', '{"name"'));
      expect((await fetch(`${address}/docs/swagger-ui-bundle.js`)).status).to.equal(200);
    });
  });
});

/** Returns the first block of the README in a language. */
function blockOf(name: string, language: string): string {
  const folder = libraries.find((it) => it.name === name)?.folder;
  const { path, blocks } = readDocument(root, `${folder}/README.md`);
  const block = blocks.find((it) => it.language === language);
  if (block === undefined) throw new Error(`${path} has no block of ${language}`);
  return block.text;
}

/** Returns the files that the tarball of a package must have. */
function filesOf(folder: string, isLibrary: boolean): string[] {
  const files = filesIn(join(root, folder));
  const modules = files
    .filter((file) => file.startsWith('src/'))
    .map((file) => /^(.*)(\.c?)([jt]s)$/.exec(file)?.slice(1) ?? []);
  return [
    'LICENSE',
    'README.md',
    'package.json',
    ...files.filter((file) => /^(?:bin|static)\/|^dist\/src\/.*\.json$/.test(file)),
    ...modules.map(([name, dot]) => `dist/${name}${dot}js`),
    ...modules.flatMap(([name, dot]) => (isLibrary ? [`dist/${name}.d${dot}ts`] : [])),
  ];
}
