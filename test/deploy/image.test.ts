import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ACCESS_TOKEN_SHA256, command, createPlant, watch } from '@plant-store/service-process';
import { expect } from 'chai';
import { root } from '../root.js';

/** Above that of the service today, so that an adapter with another driver fits. */
const MAX_BYTES = 25_000_000;
const LICENCE = /^(?:.*licen[cs]e.*|notice|copying)(?:\.\w+)?$/i;

/** Settings of npm that do not change what is installed. */
const QUICK_NPM = {
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};

/** The files that the copy does not have: those of `.dockerignore`, and dependencies of single packages. */
const LEFT_OUT = /-contract$|[\\/]packages[\\/][^\\/]+[\\/](?:test|dist[\\/]test|node_modules)$/;

/** The instruction of the Dockerfile that removes everything that is not needed to run. */
function lastRun(): string {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').replaceAll('\\\n', '').split('\n');
  return lines.findLast((line) => line.startsWith('RUN '))?.slice('RUN '.length) ?? '';
}

/** The folder of `app` that the Dockerfile puts in front of the `PATH`. */
function folderOnPath(app: string): string {
  const [, folder = ''] =
    /^ENV PATH=\/app\/(\S+):\$PATH$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  return join(app, folder);
}

/** The instructions of the image with tracing, by their keywords. */
function tracingInstruction(keyword: string): string {
  const lines = readFileSync(join(root, 'deploy/tracing/Dockerfile'), 'utf8')
    .replaceAll('\\\n', '')
    .split('\n');
  return lines.find((line) => line.startsWith(`${keyword} `))?.slice(keyword.length + 1) ?? keyword;
}

/** The files of a folder as relative paths; links are not followed. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => join(it.parentPath, it.name).slice(folder.length + 1));
}

describe('The application in the image', function () {
  this.timeout(180_000);
  let app: string;
  let files: string[];

  before(async () => {
    app = join(mkdtempSync(join(tmpdir(), 'plant-store-image-')), 'app');
    for (const name of ['package.json', 'package-lock.json', '.npmrc', 'packages']) {
      cpSync(join(root, name), join(app, name), {
        recursive: true,
        filter: (source) => !LEFT_OUT.test(source),
      });
    }
    const env = { ...process.env, ...QUICK_NPM };
    await promisify(execFile)('sh', ['-c', lastRun()], { cwd: app, env });
    files = filesOf(app).filter((file) => /^(?:node_modules|packages)[\\/]/.test(file));
  });
  after(() => rmSync(dirname(app), { recursive: true }));

  it(`is smaller than ${MAX_BYTES / 1e6} MB`, () => {
    const bytes = files.reduce((sum, file) => sum + statSync(join(app, file)).size, 0);
    expect(bytes).to.be.below(MAX_BYTES);
  });

  it('has no sources, types, tests or source maps of its own', () => {
    const unused = /\.map$|\.[cm]?ts$|tsbuildinfo|^packages[\\/][^\\/]+[\\/](?:src|test)[\\/]/;
    expect(files.filter((file) => unused.test(file))).to.deep.equal([]);
  });

  it('has no machine code, so that it can be built on another platform', () => {
    expect(files.filter((file) => /\.node$|\.so$/.test(file))).to.deep.equal([]);
  });

  it('has the licence of every package', () => {
    const licencesOf = (folder: string) => readdirSync(folder).filter((it) => LICENCE.test(it));
    const packages = files
      .filter((file) => /^node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]package\.json$/.test(file))
      .map((file) => dirname(file));
    expect(packages).to.have.lengthOf.above(100);
    for (const name of packages) {
      expect(licencesOf(join(app, name)), name).to.deep.equal(licencesOf(join(root, name)));
    }
  });

  it('has the documented command on its PATH, which checks the configuration', async () => {
    const env = { PATH: `${folderOnPath(app)}:${process.env.PATH}`, ACCESS_TOKEN_SHA256 };
    const { stdout } = await promisify(execFile)('plant-store', ['check'], { env, cwd: tmpdir() });
    expect(stdout).to.match(/^storage \(memory\): ready$/m);
  });

  it('creates a plant, and serves the docs page', async () => {
    const service = spawn(process.execPath, [join(app, 'packages/app/bin/plant-store.js')], {
      env: { PORT: '0', LOG_FORMAT: 'json', DOCS: 'on', ACCESS_TOKEN_SHA256 },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const [, address = ''] = await watch(service).printed(/"address":"([^"]+)"/);
      expect((await createPlant(address, 1)).status).to.equal(200);
      for (const path of ['/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
        expect((await fetch(`${address}${path}`)).status, path).to.equal(200);
      }
    } finally {
      service.kill();
    }
  });

  it('loads the packages that the image with tracing adds', async () => {
    expect(tracingInstruction('RUN')).to.match(/ && mv node_modules \/node_modules$/);
    const above = join(dirname(app), 'node_modules/@opentelemetry');
    mkdirSync(above, { recursive: true });
    renameSync(join(app, 'node_modules/@opentelemetry/api'), join(above, 'api'));
    const preload = '@opentelemetry/auto-instrumentations-node/register';
    const [node, flag, name, ...rest] = JSON.parse(tracingInstruction('ENTRYPOINT'));
    expect([node, flag, name]).to.deep.equal(['node', '--import', preload]);
    const flags = [flag, '@opentelemetry/api', ...rest, '--version'];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: app });
    const built = await promisify(execFile)(process.execPath, [command, '--version']);
    expect(stdout).to.equal(built.stdout);
  });
});
