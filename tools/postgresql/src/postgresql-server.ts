import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CREATE_TABLE } from '@plant-store/plant-repository-postgresql';
import { Pool } from 'pg';
import { findPostgresql } from './find-postgresql.js';

const PASSWORD = 'a pass/word';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** PostgreSQL refuses to run as root. This is `nobody`. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** A commit that does not wait for the disk is then lost when the server is killed. */
const LAZY_WRITER = ['-c', 'wal_writer_delay=10s'];

/** A PostgreSQL server on loopback, with its data in a folder of its own. Both end with this process. */
export class PostgresqlServer {
  readonly port: number;
  readonly password = PASSWORD;
  readonly #folder = mkdtempSync(join(tmpdir(), 'plant-store-postgresql-'));
  readonly #programs: string;
  readonly #administrator: Pool;
  readonly #exit = () => this.#destroy();
  readonly #signal = (signal: NodeJS.Signals) => {
    this.#destroy();
    process.kill(process.pid, signal);
  };
  #child: ChildProcess | undefined;

  private constructor(programs: string, port: number) {
    this.port = port;
    this.#programs = programs;
    this.#administrator = new Pool({
      connectionString: this.uri('postgres'),
      max: 1,
      // Does not wait for standbys that a test has named.
      options: '-c synchronous_commit=local',
    });
    this.#administrator.on('error', () => undefined);
    this.#own(this.#folder);
    process.once('exit', this.#exit);
    for (const signal of SIGNALS) process.once(signal, this.#signal);
  }

  /** Starts a server with the role `plant_store`. */
  static async start(): Promise<PostgresqlServer> {
    const programs = findPostgresql();
    if (programs === undefined) throw new Error('there is no PostgreSQL. Install the server');
    const server = new PostgresqlServer(programs, await freePort());
    await server.#initialize();
    await server.restart();
    await server.run(`CREATE ROLE plant_store LOGIN PASSWORD '${PASSWORD}'`);
    return server;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The connection string of a role. */
  uri(role: string, password = PASSWORD): string {
    return `postgresql://${role}:${encodeURIComponent(password)}@${this.host}/postgres`;
  }

  /** Runs statements as the administrator. */
  async run(statements: string): Promise<void> {
    await this.#administrator.query(statements);
  }

  /** Runs one query as the administrator. */
  async rows(query: string): Promise<readonly Record<string, unknown>[]> {
    return (await this.#administrator.query<Record<string, unknown>>(query)).rows;
  }

  /** Creates the table of plants in a schema of its own, and grants what the service needs. */
  async createTable(schema: string): Promise<void> {
    await this.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${CREATE_TABLE};
      GRANT USAGE ON SCHEMA ${schema} TO plant_store;
      GRANT SELECT, INSERT ON plants TO plant_store`);
  }

  /** Lets the server use TLS, with a file that has a certificate and its key. */
  async useTls(file: string): Promise<void> {
    copyFileSync(file, this.#certificate);
    this.#own(this.#certificate);
    const settings = { ssl_cert_file: this.#certificate, ssl_key_file: this.#certificate };
    for (const [name, path] of Object.entries(settings)) {
      await this.run(`ALTER SYSTEM SET ${name} = '${path}'`);
    }
    await this.run('ALTER SYSTEM SET ssl = on');
    await this.run('SELECT pg_reload_conf()');
  }

  /** Starts the server again, with its data. Resolves when it accepts connections. */
  async restart(...options: string[]): Promise<void> {
    // After a kill, the processes of the old server may not have ended yet.
    while (!(await this.#start([...LAZY_WRITER, ...options])));
  }

  /** Ends the server with SIGKILL. Its other processes end when they notice this. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.#administrator.end();
    const gone = this.#child && once(this.#child, 'exit');
    this.#destroy();
    await gone;
    process.removeListener('exit', this.#exit);
    for (const signal of SIGNALS) process.removeListener(signal, this.#signal);
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #certificate(): string {
    return join(this.#folder, 'server.pem');
  }

  #own(path: string): void {
    if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
  }

  async #initialize(): Promise<void> {
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const user = ['-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile];
    const args = ['-D', this.#data, '-E', 'UTF8', '--locale', 'C', '--no-sync', ...user];
    await promisify(execFile)(join(this.#programs, 'initdb'), args, { ...USER, cwd: this.#folder });
  }

  /** Resolves with whether it has started. */
  async #start(options: readonly string[]): Promise<boolean> {
    const own = ['-D', this.#data, '-h', '127.0.0.1', '-p', `${this.port}`, '-k', ''];
    const child = spawn(join(this.#programs, 'postgres'), [...own, ...options], {
      ...USER,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    for await (const line of createInterface(child.stderr)) {
      output += `${line}\n`;
      if (!line.includes('ready to accept connections')) continue;
      child.stderr.resume();
      this.#child = child;
      return true;
    }
    if (/is still in use|already exists/.test(output)) return false;
    throw new Error(`PostgreSQL ended before it accepted connections:\n${output}`);
  }

  #destroy(): void {
    this.#child?.kill('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
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
