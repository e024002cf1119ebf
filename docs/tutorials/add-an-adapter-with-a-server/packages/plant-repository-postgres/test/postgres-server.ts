import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CREATE_TABLE } from '@plant-store/plant-repository-postgres';
import { Pool } from 'pg';

const PROGRAMS = ['initdb', 'postgres'];
const PASSWORD = 'a pass/word';
/** PostgreSQL refuses to run as root. This is `nobody`. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder of PostgreSQL's programs: on the `PATH`, or where Debian installs them. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => +b - +a) : [];
  const installed = versions.map((version) => join(debian, version, 'bin'));
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...installed];
  return folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))));
}

/** A `before` hook. Without a server the tests are pending; with `CI` set they fail. */
export function needsPostgres(this: Mocha.Context): void {
  if (findPostgres() !== undefined) return;
  if (process.env.CI)
    throw new Error('there is no PostgreSQL for the storage tests, and CI is set');
  process.stderr.write('\n*** NO POSTGRESQL: its tests did not run. Install the server. ***\n\n');
  this.skip();
}

/** A PostgreSQL on loopback, with its data in a folder of its own. Both end with this process. */
export class PostgresServer {
  readonly port: number;
  readonly password = PASSWORD;
  readonly #folder = mkdtempSync(join(tmpdir(), 'plant-store-postgres-'));
  readonly #programs: string;
  readonly #administrator: Pool;
  readonly #end = () => this.#destroy();
  #child: ChildProcess | undefined;

  private constructor(programs: string, port: number) {
    this.port = port;
    this.#programs = programs;
    this.#administrator = new Pool({ connectionString: this.url('postgres'), max: 1 });
    this.#administrator.on('error', () => undefined);
    if (USER.uid !== undefined) chownSync(this.#folder, USER.uid, USER.gid);
    process.once('exit', this.#end);
  }

  static async start(): Promise<PostgresServer> {
    const programs = findPostgres();
    if (programs === undefined) throw new Error('there is no PostgreSQL. Install the server');
    const server = new PostgresServer(programs, await freePort());
    await server.#initialize();
    await server.restart();
    await server.run(`CREATE ROLE plant_store LOGIN PASSWORD '${PASSWORD}'`);
    return server;
  }

  url(user: string, password = PASSWORD): string {
    return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/postgres`;
  }

  /** Runs statements as the administrator. */
  async run(statements: string): Promise<void> {
    await this.#administrator.query(statements);
  }

  /** Runs one query as the administrator. */
  async rows(query: string): Promise<readonly Record<string, unknown>[]> {
    return (await this.#administrator.query<Record<string, unknown>>(query)).rows;
  }

  /** Creates the table in a schema of its own, and grants what the service needs. */
  async createTable(schema: string): Promise<void> {
    await this.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${CREATE_TABLE};
      GRANT USAGE ON SCHEMA ${schema} TO plant_store;
      GRANT SELECT, INSERT ON plants TO plant_store`);
  }

  /** Starts the server again, with its data. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    const own = ['-D', this.#data, '-h', '127.0.0.1', '-p', `${this.port}`, '-k', ''];
    // What is committed without waiting for the disk is lost when the server is killed.
    const args = [...own, '-c', 'wal_writer_delay=10s'];
    const child = spawn(join(this.#programs, 'postgres'), args, {
      ...USER,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    for await (const line of createInterface(child.stderr)) {
      if (!line.includes('ready to accept connections')) continue;
      child.stderr.resume();
      return;
    }
    throw new Error('PostgreSQL ended before it accepted connections');
  }

  /** Ends the server at once, without writing anything. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, 'exit');
    child.kill('SIGQUIT');
    await gone;
  }

  async stop(): Promise<void> {
    await this.#administrator.end();
    await this.kill();
    process.removeListener('exit', this.#end);
    this.#destroy();
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  async #initialize(): Promise<void> {
    const passwordFile = join(this.#folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const user = ['-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile];
    const args = ['-D', this.#data, '-E', 'UTF8', '--locale', 'C', '--no-sync', ...user];
    await promisify(execFile)(join(this.#programs, 'initdb'), args, { ...USER, cwd: this.#folder });
  }

  #destroy(): void {
    this.#child?.kill('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
