import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, skipWithout } from '@plant-store/programs';
import {
  ACCESS_TOKEN_SHA256,
  command,
  endAll,
  run,
  serve,
  sha256,
} from '@plant-store/service-process';
import { expect } from 'chai';

/** Packages that only other configurations need. */
const NOT_NEEDED = /\/node_modules\/(?:mongodb|pg|jose|prom-client|yaml)\//;
/** Twice as many are more than the connections that Node.js lets wait by default. */
const WAITING = 300;
/** Resolves when there is a good response. The service has no output that could show when it listens. */
async function responds(url: string): Promise<void> {
  while (!(await fetch(url).catch(() => undefined))?.ok) await pause(20);
}

/** A part of the last line that the service logs at its start. */
const LAST_ADVICE = 'ulimit -n';

describe('The process of plant-store', function () {
  this.timeout(20_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });

  afterEach(() => {
    endAll();
    rmSync(folder, { recursive: true });
  });

  it('loads only what a service in memory needs, and ends with 0 on SIGTERM', async () => {
    const service = await serve({ ACCESS_TOKEN_SHA256, NODE_V8_COVERAGE: folder });
    expect(await service.stop()).to.equal(0);
    const [report = ''] = readdirSync(folder);
    const { result }: { result: { url: string }[] } = JSON.parse(
      readFileSync(join(folder, report), 'utf8'),
    );
    const files = result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
    expect(files.some((file) => file.includes('/node_modules/koa/'))).to.equal(true);
    expect(files.filter((file) => NOT_NEEDED.test(file))).to.deep.equal([]);
  });

  it('handles signals that come while the service starts: it reads the tokens again, and stops gracefully', async () => {
    const [tokens, newTokens] = [join(folder, 'tokens'), join(folder, 'new-tokens')];
    execFileSync('mkfifo', [tokens]);
    await writeFile(newTokens, `${ACCESS_TOKEN_SHA256} a-client\n${sha256('another')} another\n`);
    const service = run(['serve'], { PORT: '0', ACCESS_TOKENS_FILE: tokens });
    const reading = await open(tokens, 'w');
    await rename(newTokens, tokens);
    service.child.kill('SIGHUP');
    service.child.kill('SIGTERM');
    await reading.writeFile(`${ACCESS_TOKEN_SHA256} a-client\n`);
    await reading.close();
    expect(await service.ended).to.equal(0);
    const [line = ''] = /^.*read again.*$/m.exec(service.stdout()) ?? [];
    expect(JSON.parse(line)).to.include({ tokens: 2 });
    expect(service.stdout()).to.include('"stopped"');
  });

  it('responds on connections that waited to be accepted at the signal, and closes those without a request', async () => {
    const { port, child, ended } = await serve({ ACCESS_TOKEN_SHA256 });
    child.kill('SIGSTOP');
    const ask = async (request: string) => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      await once(socket, 'connect');
      socket.write(request);
      return socket;
    };
    const asking = Array.from({ length: WAITING }, () =>
      ask('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    );
    const silent = Array.from({ length: WAITING }, () => ask(''));
    const sockets = await Promise.all([...asking, ...silent]);
    const received = sockets.map((socket) => socket.toArray());
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const statuses = (await Promise.all(received)).map((parts) => parts.join('').slice(9, 12));
    expect(statuses).to.deep.equal([...asking.map(() => '200'), ...silent.map(() => '')]);
    expect(await ended).to.equal(0);
  });

  describe('with closed outputs', () => {
    /** Runs a command as `plant-store | true` does. */
    function runUnread(args: readonly string[], env: Record<string, string> = {}) {
      const running = run(args, env);
      running.child.stdout?.destroy();
      running.child.stderr?.destroy();
      return running;
    }

    it('has the same exit code', async () => {
      expect(await runUnread(['bake']).ended).to.equal(2);
    });

    it('may have them closed from the start', async () => {
      const line = 'exec "$0" "$1" check >&- 2>&-';
      const env = { PATH: process.env.PATH, ACCESS_TOKEN_SHA256 };
      await promisify(execFile)('bash', ['-c', line, process.execPath, command], { env });
    });

    it('serves on, also after a SIGHUP', async () => {
      const PORT = `${await freePort()}`;
      const settings = { PORT, LOG_FORMAT: 'pretty', LOG_LEVEL: 'debug' };
      const service = runUnread(['serve'], settings);
      const url = `http://127.0.0.1:${PORT}/livez`;
      await responds(url);
      service.child.kill('SIGHUP');
      await responds(url);
      service.child.kill('SIGTERM');
      expect(await service.ended).to.equal(0);
    });
  });

  describe('while the reader of its log has stopped', () => {
    const env = { PATH: process.env.PATH, ACCESS_TOKEN_SHA256, MANAGEMENT_PORT: '0' };
    const children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
    });

    /** Starts the service, sends it so many requests that are refused, and so logged, and reads nothing. */
    async function start(requests: number, LOG_FORMAT: string) {
      const [port, management] = [await freePort(), await freePort()];
      const ports = { PORT: `${port}`, MANAGEMENT_PORT: `${management}`, LOG_FORMAT };
      const stdio = ['ignore', 'pipe', 'inherit'] as const;
      const child = spawn(process.execPath, [command], {
        env: { ...env, ...ports },
        stdio: [...stdio],
      });
      children.push(child);
      const live = () => responds(`http://127.0.0.1:${port}/livez`);
      await live();
      const request = `GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${'y'.repeat(128)}\r\n`;
      const socket = connect(port, '127.0.0.1').resume();
      socket.write(`${request}\r\n`.repeat(requests - 1));
      socket.write(`${request}Connection: close\r\n\r\n`);
      await once(socket, 'close');
      return { child, live, management, ended: once(child, 'exit').then(([code]) => code) };
    }

    it('serves on, counts the lines that it loses, and logs their number when it is read again', async () => {
      // More than the pipe, the reader and the service keep.
      const { child, live, management, ended } = await start(6_000, 'json');
      await live();
      const metrics = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
      const [, lost] = /^plant_store_log_lines_lost_total ([1-9][0-9]*)$/m.exec(metrics) ?? [];
      let log = '';
      for await (const part of child.stdout?.setEncoding('utf8') ?? []) {
        if (!log.includes('were lost') && `${log}${part}`.includes('were lost')) {
          child.kill('SIGTERM');
        }
        log += part;
      }
      const entries = log
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const [report] = entries.filter(({ msg }) => msg === 'lines of the log were lost');
      expect(report).to.deep.include({ level: 'error', lines: Number(lost), reason: 'EAGAIN' });
      expect(entries.at(-1)).to.include({ msg: 'stopped' });
      expect(await ended).to.equal(0);
    });

    it('stops', async () => {
      const { child, ended } = await start(1_000, 'pretty');
      child.kill('SIGTERM');
      expect(await ended).to.equal(0);
    });
  });

  it('ends with 0 as a worker of a cluster', async () => {
    const script = `
      import cluster from 'node:cluster';
      cluster.setupPrimary({ exec: process.argv[2], args: ['serve'] });
      const worker = cluster.fork();
      worker.on('listening', () => worker.process.kill('SIGTERM'));
      worker.on('exit', (code) => process.exit(code ?? 1));`;
    const file = join(folder, 'primary.mjs');
    await writeFile(file, script);
    const primary = spawn(process.execPath, [file, command], {
      env: { PATH: process.env.PATH, PORT: '0', ACCESS_TOKEN_SHA256 },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect((await once(primary, 'exit'))[0]).to.equal(0);
  });

  /** Whether `script` of util-linux is installed, which provides a terminal without native code. */
  const hasScript = () => {
    try {
      return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
    } catch {
      return false;
    }
  };

  it('logs advice for people on a terminal, where Ctrl-C stops the service', async function () {
    if (!hasScript()) skipWithout(this, 'no `script` of util-linux in place of a terminal');
    const line = `ulimit -n 200; exec '${process.execPath}' '${command}'`;
    const service = spawn('script', ['-qec', line, '/dev/null'], {
      env: {
        ...{ PATH: process.env.PATH, PORT: '0', ACCESS_TOKEN_SHA256 },
        ...{ NODE_ENV: 'production', STORAGE: 'memory' },
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let printed = '';
    service.stdout.setEncoding('utf8').on('data', (part) => {
      if (!printed.includes(LAST_ADVICE) && `${printed}${part}`.includes(LAST_ADVICE)) {
        service.stdin.write('\x03');
      }
      printed += part;
    });
    const [code] = await once(service, 'close');
    expect(code).to.equal(0);
    expect(printed).to.match(/^Plant Store .* listens on /);
    expect(printed).to.match(/WARN.*: .*STORAGE: memory loses/);
    expect(printed).to.match(/WARN.*: .*MAX_CONNECTIONS: the process may open 200 files/);
    expect(printed).to.match(/INFO.*: .*stopping/);
  });
});
