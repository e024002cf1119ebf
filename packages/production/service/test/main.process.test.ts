import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsProgram } from '@plant-store/test-servers/programs';
import {
  ACCESS_TOKEN_SHA256,
  command,
  createPlant,
  ownProcesses,
  TOKEN,
  watch,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { connectTo } from './support/in-process.js';
import { newFiles } from './support/plant-files.js';

const { endAll, run, serve } = ownProcesses();

const checkout = join(import.meta.dirname, '../../../../..');

/** Twice as many exceed the backlog of Node.js. */
const WAITING = 300;
/** What the service logs when it can write again. */
const REPORT = /^\{.*log lines were lost"\}$/m;

describe('The process of plant-store', () => {
  const { newPath, write } = newFiles();
  afterEach(endAll);

  it('says what HTTPS_PROXY needs when the issuer cannot be reached', async () => {
    const env = { JWT_ISSUER: 'http://127.0.0.1:1', JWT_AUDIENCE: 'plants', JWT_SCOPE: 'create' };
    const named = 'JWT_ISSUER, JWKS_URL';
    const needs = 'HTTPS_PROXY (needs NODE_USE_ENV_PROXY=1, from Node.js 22.21 and 24.0 on)';
    const printed = async (variables: string, proxy: Record<string, string>) => {
      const check = run(['check'], { ...env, ...proxy });
      expect(await check.ended).to.equal(1);
      const line = `not ready: ${variables}: the issuer's keys cannot be fetched (`;
      expect(check.stdout()).to.include(line);
    };
    await Promise.all([
      printed(named, {}),
      printed(`${named}, ${needs}`, { HTTPS_PROXY: 'http://127.0.0.1:1' }),
      printed(`${named}, ${needs}`, { https_proxy: 'http://127.0.0.1:1' }),
    ]);
  });

  it('logs Node.js warnings in the format of the log, even those from before it was opened', async () => {
    const warn = "process.on('SIGUSR2', () => process.emitWarning('a leak', 'LeakWarning'))";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(warn)}`;
    const MONGODB_URI = 'mongodb://127.0.0.1:1/?j=true';
    const service = await serve({ ACCESS_TOKEN_SHA256, NODE_OPTIONS, MONGODB_URI });
    service.child.kill('SIGUSR2');
    for (const warning of [/^.*a leak.*$/m, /^.*j is a deprecated option.*$/m]) {
      const [line] = await service.printed(warning);
      expect(JSON.parse(line)).to.deep.include({ level: 'warn', msg: 'Node.js warning' });
    }
    expect(await service.stop()).to.equal(0);
    expect(service.stderr()).to.equal('');
  });

  /** What V8 recorded about a file: its functions, and how often each was called. */
  interface Coverage {
    readonly url: string;
    readonly functions: readonly { functionName: string; ranges: readonly { count: number }[] }[];
  }

  it('reads the body of every create with koa-bodyparser', async () => {
    const coverage = newPath();
    const service = await serve({ ACCESS_TOKEN_SHA256, NODE_V8_COVERAGE: coverage });
    const create = async (id: number) => (await createPlant(service.address, id)).status;
    const statuses = await Promise.all(Array.from({ length: 100 }, (_, id) => create(id)));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(await service.stop()).to.equal(0);
    const [report = ''] = readdirSync(coverage);
    const { result }: { result: readonly Coverage[] } = JSON.parse(
      readFileSync(join(coverage, report), 'utf8'),
    );
    const parser = result.find(({ url }) => url.endsWith('/koa-bodyparser/index.js'));
    const parse = parser?.functions.find((it) => it.functionName === 'parseBody');
    expect(parse?.ranges[0]?.count).to.equal(100);
  });

  it('lets V8 allocate nothing of a request among what lives long', async () => {
    const program = join(import.meta.dirname, '../../bin/plant-store.js');
    const args = ['--trace-pretenuring-statistics', program];
    const free = { HOST: '127.0.0.1', PORT: '0' };
    const env = { ACCESS_TOKEN_SHA256, STORAGE: 'memory', LOG_FORMAT: 'json', ...free };
    const service = spawn(process.execPath, args, { env });
    try {
      const { printed, stdout } = watch(service);
      const [, address = ''] = await printed(/"url":"([^"]+)"/);
      for (let id = 0; id < 2000; id += 100) {
        const creates = Array.from({ length: 100 }, (_, at) => createPlant(address, id + at));
        await Promise.all(creates);
      }
      const [, whileServing] = stdout().split(address);
      expect(whileServing).not.to.include('pretenuring:');
    } finally {
      service.kill();
    }
  });

  it('is not ended by a SIGHUP before it is loaded, if it has a tokens file', async () => {
    const hangUp =
      "import it from 'module'; it.enableCompileCache = () => process.kill(process.pid, 'SIGHUP')";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hangUp)}`;
    const ACCESS_TOKENS_FILE = write([`${ACCESS_TOKEN_SHA256} a-client\n`]);
    const service = await serve({ ACCESS_TOKENS_FILE, NODE_OPTIONS });
    expect(await service.stop()).to.equal(0);
  });

  it('keeps serving after a SIGHUP when its outputs are closed', async () => {
    const ACCESS_TOKENS_FILE = write([`${ACCESS_TOKEN_SHA256} a-client\n`]);
    const { address, child, stop } = await serve({ ACCESS_TOKENS_FILE, LOG_LEVEL: 'debug' });
    for (const output of [child.stdout, child.stderr]) output?.destroy();
    child.kill('SIGHUP');
    expect((await fetch(`${address}/livez`)).status).to.equal(200);
    expect(await stop()).to.equal(0);
  });

  for (const [what, line] of [
    ['plant-store', `'${process.execPath}' '${command}'`],
    ['npm start', 'npm start'],
  ] as const) {
    it(`ends when the terminal that runs ${what} is closed`, async function () {
      const script = needsProgram(this, 'script', 'util-linux');
      const terminal = spawn(script, ['-qc', line, '/dev/null'], {
        cwd: checkout,
        env: { PATH: process.env.PATH, PORT: '0' },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const [, address = ''] = await watch(terminal).printed(/listens on (http:\S+?)\s/);
      const socket = connectTo({ address }, '');
      await once(socket, 'connect');
      terminal.kill('SIGKILL');
      // The service closes it only when it stops.
      await once(socket.resume(), 'close');
      while (await fetch(`${address}/livez`).catch(() => undefined));
    });
  }

  it('responds to requests whose connections were not yet accepted at SIGTERM', async () => {
    const service = await serve({ ACCESS_TOKEN_SHA256 });
    const { child, ended } = service;
    const connected = async (request: string) => {
      const socket = connectTo(service, request);
      await once(socket, 'connect');
      return socket;
    };
    const request = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    child.kill('SIGSTOP');
    const asking = await Promise.all(Array.from({ length: WAITING }, () => connected(request)));
    const silent = await Promise.all(Array.from({ length: WAITING }, () => connected('')));
    const received = [...asking, ...silent].map((socket) => socket.toArray());
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const statuses = (await Promise.all(received)).map((parts) => parts.join('').slice(9, 12));
    expect(statuses.slice(0, WAITING).every((status) => status === '200')).to.equal(true);
    expect(statuses.slice(WAITING).every((status) => status === '')).to.equal(true);
    expect(await ended).to.equal(0);
  });

  it('ends an import on a signal while its input pipe is silent', async () => {
    const pipe = newPath();
    execFileSync('mkfifo', [pipe]);
    const settings = { STORAGE: 'memory', ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 };
    const { child, stderr, ended } = run(['import', pipe], settings);
    while (!stderr().includes('--from-line 1')) await once(child.stderr ?? child, 'data');
    child.kill('SIGTERM');
    expect(await ended).to.equal(1);
  });

  it('exits with the usual code even when its outputs are closed', async () => {
    for (const [args, code] of [
      [['bake'], 2],
      [['--help'], 0],
    ] as const) {
      const { child, ended } = run(args);
      for (const output of [child.stdout, child.stderr]) output?.destroy();
      expect(await ended).to.equal(code);
    }
  });

  it('keeps serving while nobody reads its log, and later reports lost lines', async () => {
    const tokens = write([`${ACCESS_TOKEN_SHA256} a-client\n`]);
    const service = await serve({ ACCESS_TOKENS_FILE: tokens, MANAGEMENT_PORT: '0' });
    /** Makes the service log a long line about its tokens. Resolves with how many lines it has lost. */
    const logMore = async () => {
      service.child.kill('SIGHUP');
      expect((await fetch(`${service.address}/livez`)).status).to.equal(200);
      const metrics = await (await fetch(`${service.management}/metrics`)).text();
      return Number(/^plant_store_log_lines_lost_total ([0-9]+)$/m.exec(metrics)?.[1]);
    };
    writeFileSync(tokens, 'not a digest\n'.repeat(2_000));
    service.child.stdout?.pause();
    let lost = 0;
    while (lost === 0) lost = await logMore();
    service.child.stdout?.resume();
    const [report] = await service.printed(REPORT);
    expect(JSON.parse(report)).to.deep.include({ level: 'error', lines: lost, reason: 'EAGAIN' });

    service.child.stdout?.pause();
    for (let line = 0; line < 4; line += 1) await logMore();
    service.child.kill('SIGTERM');
    expect(await once(service.child, 'exit')).to.deep.equal([0, null]);
  });
});
