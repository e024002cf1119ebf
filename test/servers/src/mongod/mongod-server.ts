import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, MongoClient } from 'mongodb';
import { freePort } from '../loopback/index.js';
import { ServerProcess } from '../programs/index.js';
import { findMongod } from './find-mongod.js';

const RESPONSE_TIMEOUT_MS = 20_000;

/** After a kill, a server replays its journal since the last checkpoint, which is up to 60 s old by default. */
const SMALL =
  '--wiredTigerCacheSizeGB 0.25 --syncdelay 5 --setParameter diagnosticDataCollectionEnabled=false';

export interface MongodOptions {
  /** Further command line options of `mongod`. */
  readonly args?: readonly string[];
  /** The size of its cache. 0.25 by default, with frequent checkpoints: a restart is fast, but many creates are slower. */
  readonly cacheGiB?: number;
  /** The content of its key file: turns access control on. */
  readonly keyFile?: string;
}

/** One `mongod` on loopback, with fail points enabled. */
export class MongodServer {
  readonly port: number;
  readonly #options: MongodOptions;
  readonly #process = new ServerProcess('mongod');

  private constructor(port: number, options: MongodOptions) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: MongodOptions = {}): Promise<MongodServer> {
    const server = await MongodServer.stopped(options);
    await server.restart();
    return server;
  }

  /** Resolves with a server that {@link restart} starts. */
  static async stopped(options: MongodOptions = {}): Promise<MongodServer> {
    return new MongodServer(await freePort(), options);
  }

  /** The id of the process that runs now. */
  get pid(): number {
    return this.#process.pid;
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
    const path = await findMongod();
    if (path === undefined) throw new Error('mongod was not found');
    const { args = [], cacheGiB } = this.#options;
    const own = ['--port', `${this.port}`, '--dbpath', this.#process.folder, '--nounixsocket'];
    const size =
      cacheGiB === undefined ? SMALL.split(' ') : ['--wiredTigerCacheSizeGB', `${cacheGiB}`];
    const local = ['--bind_ip', '127.0.0.1', '--setParameter', 'enableTestCommands=1'];
    await this.#process.start({
      path,
      args: [...own, ...size, ...local, ...args, ...this.#accessControl()],
      ready: /Waiting for connections/,
      output: 'stdout',
    });
  }

  #accessControl(): string[] {
    const { keyFile } = this.#options;
    if (keyFile === undefined) return [];
    const path = join(this.#process.folder, 'key');
    writeFileSync(path, keyFile, { mode: 0o600 });
    return ['--keyFile', path];
  }

  /** Ends the server immediately, as a crash would. Resolves when it is gone. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Suspends the server without closing its connections, until {@link thaw}. */
  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  /** Ends the server and removes its data. */
  stop(): Promise<void> {
    return this.#process.stop();
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
}
