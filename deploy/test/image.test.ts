import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { ACCESS_TOKEN_SHA256, createPlant, watch } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { filesIn, readManifest } from '../../test/support/manifest.js';
import { read, root, temporaryFolder } from '../../test/support/root.js';
import { run } from '../../test/support/run.js';
import { documentedDefaults } from './support/documented-settings.js';

/** Larger than the service needs today, so that an adapter with another driver fits. */
const MAX_BYTES = 25_000_000;
const LICENCE = /^(?:.*licen[cs]e.*|notice|copying)(?:\.\w+)?$/i;

/** The Node.js of the tests before any other one. */
const HERE = [dirname(process.execPath), process.env.PATH].join(delimiter);

/** Settings of npm that do not change what is installed. */
const QUICK_NPM = {
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};

function linesOf(file: string): string[] {
  return read(file).replaceAll('\\\n', '').split('\n');
}

/** The instructions of a Dockerfile with this keyword, which they do not include. */
function instructions(keyword: string, file = 'Dockerfile'): string[] {
  const lines = linesOf(file).filter((line) => line.startsWith(`${keyword} `));
  return lines.map((line) => line.slice(keyword.length + 1));
}

/** The words of the last instruction with this keyword. */
function words(keyword: string, file?: string): string[] {
  return JSON.parse(instructions(keyword, file).at(-1) ?? '');
}

/** What is sent to the build: the files of `.dockerignore` that it includes, and a pattern of those that it leaves out. */
function context(): { included: string[]; leftOut: RegExp } {
  const lines = linesOf('.dockerignore').filter((line) => /^[^#*]|^\*\*/.test(line));
  const included = lines.filter((it) => it.startsWith('!')).map((it) => it.slice(1));
  // The build makes `dist`, without tests because it gets none.
  const patterns = lines.filter((it) => !/^!|\/dist$/.test(it)).concat('packages/*/*/dist/test');
  const sources = patterns.map((it) => it.replace('**/', '(?:.*/)?').replaceAll('*', '[^/]*'));
  return { included, leftOut: new RegExp(`^(?:${sources.join('|')})$`) };
}

describe('The application in the image', function () {
  this.timeout(180_000);
  let app: string;
  let files: string[];
  let env: Record<string, string>;

  before(async () => {
    const place = temporaryFolder();
    app = join(place, 'app');
    const { included, leftOut } = context();
    for (const name of included) {
      const filter = (source: string) => !leftOut.test(relative(root, source));
      cpSync(join(root, name), join(place, 'build', name), { recursive: true, filter });
    }
    // The instruction that removes everything that is not needed to run.
    const cwd = join(place, 'build');
    const last = instructions('RUN').at(-1) ?? '';
    await run('sh', ['-c', last], { cwd, env: { ...process.env, ...QUICK_NPM } });
    mkdirSync(app);
    for (const [, path = ''] of instructions('COPY')
      .join()
      .matchAll(/ \/app\/(\S+)/g)) {
      renameSync(join(cwd, path), join(app, path));
    }
    files = filesIn(app).filter((file) => /^(?:node_modules|packages)[\\/]/.test(file));
    const variables = instructions('ENV').join(' ').split(' ');
    env = { STORAGE: 'memory', ...Object.fromEntries(variables.map((it) => it.split('='))) };
    env.PATH = env.PATH?.replace('/app', app).replace('$PATH', HERE) ?? '';
  });

  it('runs on a supported Node.js version, and not as root', () => {
    expect(context().included).to.include.members([
      'tsconfig.base.json',
      'scripts/write-version.js',
    ]);
    expect(instructions('RUN').join()).to.include('tsc -b packages/production/service');
    const [, major] = /node:(\d+)-/.exec(instructions('FROM').at(-1) ?? '') ?? [];
    expect(Number(major)).to.be.at.least(20);
    expect(readManifest(root).engines).to.deep.equal({ node: '>=20.19' });
    expect(instructions('USER').join()).to.match(/^[1-9]\d*:[1-9]\d*$/);
  });

  it(`is smaller than ${MAX_BYTES / 1e6} MB, without sources, types, tests or native code`, () => {
    const bytes = files.reduce((sum, file) => sum + statSync(join(app, file)).size, 0);
    expect(bytes).to.be.below(MAX_BYTES);
    const unused = /\.map$|\.[cm]?ts$|tsbuildinfo|^packages[\\/][^\\/]+[\\/](?:src|test)[\\/]/;
    expect(files.filter((file) => unused.test(file))).to.deep.equal([]);
    // So that it can be built on another platform.
    expect(files.filter((file) => /\.node$|\.so$/.test(file))).to.deep.equal([]);
  });

  it('contains the licence of every package', () => {
    const licencesOf = (folder: string) => readdirSync(folder).filter((it) => LICENCE.test(it));
    const packages = files
      .filter((file) => /^node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]package\.json$/.test(file))
      .map((file) => dirname(file));
    expect(packages).to.have.lengthOf.above(100);
    for (const name of [...packages, '.']) {
      expect(licencesOf(join(app, name)), name).to.deep.equal(licencesOf(join(root, name)));
    }
  });

  it('starts without a shell, is healthy, creates a plant and stops', async () => {
    expect(instructions('EXPOSE')).to.deep.equal([documentedDefaults.get('PORT')]);
    const settings = { ...env, HOST: '127.0.0.1', DOCS: 'on', ACCESS_TOKEN_SHA256 };
    const [node = '', ...args] = [...words('ENTRYPOINT'), ...words('CMD')];
    expect(node).to.equal('node');
    const service = spawn(node, args, {
      cwd: app,
      env: { ...settings, PORT: '0', LOG_FORMAT: 'json' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const { printed, ended } = watch(service);
      const [, address = ''] = await printed(/"url":"([^"]+)"/);
      const [, health = ''] = /CMD (\[.*\])/.exec(instructions('HEALTHCHECK').join()) ?? [];
      const [program, ...ready] = JSON.parse(health);
      await run(program, ready, { cwd: app, env: { ...settings, PORT: new URL(address).port } });
      expect((await createPlant(address, 1)).status).to.equal(200);
      for (const path of ['/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
        expect((await fetch(`${address}${path}`)).status, path).to.equal(200);
      }
      service.kill(instructions('STOPSIGNAL')[0] as NodeJS.Signals);
      expect(await ended).to.equal(0);
    } finally {
      service.kill();
    }
  });
});
