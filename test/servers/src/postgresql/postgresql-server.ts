import { execFile } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import { freePort } from '../loopback/index.js';
import { ServerProcess } from '../programs/index.js';
import { findPostgresql } from './find-postgresql.js';

const PASSWORD = 'a pass/word';
const RELOAD_WITHIN_MS = 10_000;
/** PostgreSQL refuses to run as root. This is `nobody`. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** A commit that does not wait for the disk is then lost when the server is killed. */
const LAZY_WRITER = ['-c', 'wal_writer_delay=10s'];

/** A PostgreSQL server on loopback. */
export class PostgresqlServer {
  readonly port: number;
  readonly password = PASSWORD;
  /** After SIGQUIT, none of its processes and none of its shared memory is left. */
  readonly #process = new ServerProcess('postgresql', 'SIGQUIT');
  readonly #programs: string;
  readonly #administrator: Pool;

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
    this.#own(this.#process.folder);
  }

  /** Starts a server with the role `plant_store`. */
  static async start(): Promise<PostgresqlServer> {
    const programs = findPostgresql();
    if (programs === undefined) throw new Error('PostgreSQL was not found: install the server');
    const server = new PostgresqlServer(programs, await freePort());
    await server.#initialize();
    await server.restart();
    await server.run(`CREATE ROLE plant_store LOGIN PASSWORD '${PASSWORD}'`);
    return server;
  }

  /** The id of the process that starts all others. */
  get pid(): number {
    return this.#process.pid;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

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

  /** Changes a setting of the running server during `work`, to a value as the server shows it. */
  async withSetting(name: string, value: string, work: () => Promise<void>): Promise<void> {
    const before = await this.#shown(name);
    await this.set(name, value);
    await work().finally(() => this.set(name, before));
  }

  /** Resolves with the number of backends of a role. */
  async backends(role = 'plant_store'): Promise<number> {
    return (await this.pids(role)).length;
  }

  /** Resolves with the process ids of the backends of a role. */
  async pids(role = 'plant_store'): Promise<readonly number[]> {
    // Within a transaction, the first reading would be repeated.
    await this.run('SELECT pg_stat_clear_snapshot()');
    const rows = await this.rows(`SELECT pid FROM pg_stat_activity WHERE usename = '${role}'`);
    return rows.map(({ pid }) => Number(pid));
  }

  /** Suspends the backends of a role, and accepts no connections, during `work`. */
  async frozen(work: () => Promise<void>, role = 'plant_store'): Promise<void> {
    const pids = await this.pids(role);
    this.#process.freeze();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await work().finally(() => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      this.#process.thaw();
    });
  }

  /** Starts a standby with a copy of the data, which replays what this server writes. This server is restarted before. */
  async startStandby(): Promise<PostgresqlServer> {
    const standby = new PostgresqlServer(this.#programs, await freePort());
    await this.kill();
    await promisify(execFile)('cp', ['-R', this.#data, standby.#data], USER);
    await this.restart();
    const primary = `primary_conninfo = '${this.uri('postgres')}?application_name=standby'`;
    standby.#write('postgresql.auto.conf', primary);
    standby.#write('standby.signal', '');
    await rm(join(standby.#data, 'postmaster.pid'));
    await standby.restart();
    return standby;
  }

  /** Lets a standby become a primary. Resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.run('SELECT pg_promote()');
  }

  /** Creates the table of plants with a statement, in a schema of its own, and grants what the service needs. */
  async createTable(schema: string, statement: string): Promise<void> {
    await this.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${statement};
      GRANT USAGE ON SCHEMA ${schema} TO plant_store;
      GRANT SELECT, INSERT ON plants TO plant_store`);
  }

  /** Lets the server use TLS, with a file that has a certificate and its key. */
  async useTls(file: string): Promise<void> {
    copyFileSync(file, this.#certificate);
    chmodSync(this.#certificate, 0o600);
    this.#own(this.#certificate);
    await this.set('ssl_cert_file', this.#certificate);
    await this.set('ssl_key_file', this.#certificate);
    await this.set('ssl', 'on');
  }

  /** Starts the server again, with its data. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      // After a kill, the processes of the old server may not have ended yet: only what the new one prints says so.
      if (!/is still in use|already exists/.test(`${error}`)) throw error;
      await this.restart();
    }
  }

  /** Ends the server with SIGKILL. Its other processes end when they notice this. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  async stop(): Promise<void> {
    await this.#administrator.end();
    await this.#process.stop();
  }

  get #data(): string {
    return join(this.#process.folder, 'data');
  }

  get #certificate(): string {
    return join(this.#process.folder, 'server.pem');
  }

  /** Writes a file of the folder of its data. */
  #write(name: string, content: string): void {
    writeFileSync(join(this.#data, name), content);
    this.#own(join(this.#data, name));
  }

  #own(path: string): void {
    if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
  }

  async #initialize(): Promise<void> {
    const passwordFile = join(this.#process.folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const user = ['-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile];
    const args = ['-D', this.#data, '-E', 'UTF8', '--locale', 'C', '--no-sync', ...user];
    await promisify(execFile)(join(this.#programs, 'initdb'), args, {
      ...USER,
      cwd: this.#process.folder,
    });
  }

  async #start(): Promise<void> {
    const own = ['-D', this.#data, '-h', '127.0.0.1', '-p', `${this.port}`, '-k', ''];
    await this.#process.start({
      path: join(this.#programs, 'postgres'),
      args: [...own, ...LAZY_WRITER],
      ready: /ready to accept (?:read[- ]only )?connections/,
      output: 'stderr',
      options: { ...USER, cwd: this.#process.folder },
    });
  }

  async #shown(name: string): Promise<string> {
    return `${(await this.rows(`SHOW ${name}`))[0]?.[name]}`;
  }

  /** Changes a setting of the running server. Resolves when new connections have the value. */
  async set(name: string, value: string): Promise<void> {
    await this.run(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.run('SELECT pg_reload_conf()');
    const end = performance.now() + RELOAD_WITHIN_MS;
    while ((await this.#shown(name)) !== value) {
      if (performance.now() > end) throw new Error(`${name} is not ${value}`);
    }
  }
}
