import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Document, MongoClient } from 'mongodb';
import { findMongod } from './find-mongod.js';

const LISTENING = 'Waiting for connections';
const RESPONSE_TIMEOUT_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The options of a server that is started. */
export interface ServerOptions {
  /** Further command line options of `mongod`. */
  readonly args?: readonly string[];
  /** The size of its cache. 0.25 by default, which is enough for tests but too little for many plants. */
  readonly cacheGiB?: number;
}

const running = new Set<MongodServer>();

function killAll(): void {
  for (const server of running) server.destroy();
}

let watching = false;

function watchProcess(): void {
  if (watching) return;
  watching = true;
  process.once('exit', killAll);
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      killAll();
      process.kill(process.pid, signal);
    });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

async function untilListening(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the output of mongod is not read');
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    if (line.includes(LISTENING)) {
      child.stdout.resume();
      return;
    }
  }
  throw new Error(`mongod ended before it listened: ${last}`);
}

function isStopped(pid: number): boolean {
  return execFileSync('ps', ['-o', 'state=', '-p', `${pid}`], { encoding: 'utf8' }).startsWith('T');
}

/**
 * One `mongod` on loopback, with fail points enabled and its data in a folder of its own. It is
 * killed, and its data removed, when this process ends; it does not keep this process running.
 */
export class MongodServer {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #cacheGiB: number;
  readonly #data = mkdtempSync(join(tmpdir(), 'plant-store-mongod-'));
  #child: ChildProcess | undefined;
  #frozen = false;

  private constructor(port: number, { args = [], cacheGiB = 0.25 }: ServerOptions) {
    this.port = port;
    this.#args = args;
    this.#cacheGiB = cacheGiB;
  }

  static async start(options: ServerOptions = {}): Promise<MongodServer> {
    const server = new MongodServer(await freePort(), options);
    watchProcess();
    running.add(server);
    await server.restart();
    return server;
  }

  /** The id of the process that runs now. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The connection string of this server only, whatever replica set it belongs to. */
  get uri(): string {
    return `mongodb://${this.host}/?directConnection=true`;
  }

  /** Starts a stopped server again, with its data. Resolves when it listens. */
  async restart(): Promise<void> {
    const mongod = await findMongod();
    if (mongod === undefined) throw new Error('there is no mongod');
    const own = ['--port', `${this.port}`, '--dbpath', this.#data, '--bind_ip', '127.0.0.1'];
    const cache = ['--wiredTigerCacheSizeGB', `${this.#cacheGiB}`];
    const small = [...cache, '--setParameter', 'enableTestCommands=1'];
    const child = spawn(mongod.path, [...own, ...small, '--nounixsocket', ...this.#args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    await untilListening(child);
    child.unref();
    (child.stdout as unknown as { unref(): void }).unref();
  }

  /** Ends the server at once, as a crash would. Resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#frozen = false;
    child.ref();
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /**
   * Suspends the server without closing its connections, until {@link thaw}. Returns when the server is
   * suspended, which on a busy machine is later than when the signal is sent.
   */
  freeze(): void {
    this.#frozen = this.#child?.kill('SIGSTOP') ?? false;
    while (this.#frozen && !isStopped(this.pid));
  }

  thaw(): void {
    if (this.#frozen) this.#child?.kill('SIGCONT');
    this.#frozen = false;
  }

  /** Runs one administrative command on this server. */
  async command(command: Document, uri = this.uri): Promise<Document> {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: RESPONSE_TIMEOUT_MS });
    try {
      return await client.db('admin').command(command);
    } finally {
      await client.close();
    }
  }

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    this.destroy();
  }

  /** As {@link stop}, without waiting: for the end of this process. */
  destroy(): void {
    this.#child?.kill('SIGKILL');
    running.delete(this);
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 3 });
  }
}
