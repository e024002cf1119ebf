import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import cluster from 'node:cluster';
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

/** Returns the files that a process has loaded, by its report about coverage. */
function filesIn(folder: string): string[] {
  const [report = ''] = readdirSync(folder);
  const { result }: { result: { url: string }[] } = JSON.parse(
    readFileSync(join(folder, report), 'utf8'),
  );
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
}

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
  const children: ChildProcess[] = [];
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });

  afterEach(() => {
    endAll();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('handles signals that come while the service starts, for which it loads only what it needs: it reads the tokens again, and stops gracefully', async () => {
    const [tokens, newTokens] = [join(folder, 'tokens'), join(folder, 'new-tokens')];
    const coverage = join(folder, 'coverage');
    execFileSync('mkfifo', [tokens]);
    await writeFile(newTokens, `${ACCESS_TOKEN_SHA256} a-client\n${sha256('another')} another\n`);
    const settings = { PORT: '0', ACCESS_TOKENS_FILE: tokens };
    const service = run(['serve'], { ...settings, NODE_V8_COVERAGE: coverage });
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
    const files = filesIn(coverage);
    expect(files.some((file) => file.includes('/node_modules/koa/'))).to.equal(true);
    expect(files.filter((file) => NOT_NEEDED.test(file))).to.deep.equal([]);
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
      const line = 'exec "$0" "$1" --version >&- 2>&-';
      const env = { PATH: process.env.PATH };
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

  it('serves on while the reader of its log has stopped, counts the lines that it loses, logs their number when it is read again, and stops', async () => {
    const [port, management] = [await freePort(), await freePort()];
    const settings = { PORT: `${port}`, MANAGEMENT_PORT: `${management}`, ACCESS_TOKEN_SHA256 };
    const child = spawn(process.execPath, [command], {
      env: { PATH: process.env.PATH, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const live = () => responds(`http://127.0.0.1:${port}/livez`);
    await live();
    const request = `GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${'y'.repeat(128)}\r\n`;
    const refuse = async (requests: number) => {
      const socket = connect(port, '127.0.0.1').resume();
      socket.write(`${request}\r\n`.repeat(requests - 1));
      socket.write(`${request}Connection: close\r\n\r\n`);
      await once(socket, 'close');
    };
    // More lines than the pipe, the reader and the service keep.
    await refuse(5_000);
    await live();
    const metrics = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
    const [, lost] = /^plant_store_log_lines_lost_total ([1-9][0-9]*)$/m.exec(metrics) ?? [];
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      log += part;
    });
    const REPORT = /^\{.*lines of the log were lost"\}\n/m;
    while (!REPORT.test(log)) await once(child.stdout, 'data');
    const [report = ''] = REPORT.exec(log) ?? [];
    const lines = { level: 'error', lines: Number(lost), reason: 'EAGAIN' };
    expect(JSON.parse(report)).to.deep.include(lines);

    child.stdout.pause();
    await refuse(1_000);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('ends with 0 as a worker of a cluster', async () => {
    cluster.setupPrimary({ exec: command, args: ['serve'], silent: true });
    const worker = cluster.fork({ PORT: '0', ACCESS_TOKEN_SHA256 });
    children.push(worker.process);
    await once(worker, 'listening');
    worker.process.kill('SIGTERM');
    expect(await once(worker, 'exit')).to.deep.equal([0, null]);
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
