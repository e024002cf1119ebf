import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The path of the built `plant-store` command. */
export const command = fileURLToPath(
  new URL('../../../../../packages/production/service/bin/plant-store.js', import.meta.url),
);

/** A `plant-store` process, and what it has printed so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves with the first match in standard output; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Collects what a process prints from now on. */
export function watch(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Running {
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  // The end of a process that is killed can be a reset.
  for (const output of [child.stdout, child.stderr]) output.on('error', () => undefined);
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const printed = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(out);
      if (match) return match;
      const gone = await Promise.race([once(child.stdout, 'data').then(() => false), ended]);
      if (gone !== false && !pattern.test(out)) throw new Error(`ended with ${gone}: ${out}${err}`);
    }
  };
  return { child, stdout: () => out, stderr: () => err, ended, printed };
}

/** A service that listens. */
export interface Service extends Running {
  readonly address: string;
  readonly port: number;
  /** The address of the management listener; `undefined` without `MANAGEMENT_PORT`. */
  readonly management: string | undefined;
  /** Begins a graceful stop; resolves as `ended` does. */
  stop(): Promise<number | string>;
}

/** The processes that a test file starts, and ends. */
export interface OwnProcesses {
  /**
   * Starts the command. Its environment contains only `PATH` and the given variables.
   *
   * @param input The text of its standard input.
   */
  run(args: readonly string[], env?: Record<string, string>, input?: Readable): Running;
  /**
   * Starts the service, on a free port unless one is given. Resolves when it listens.
   *
   * @param env The settings; one of them must choose how tokens are verified. For a service with a token of its
   * own, use {@link run}.
   */
  serve(env: Record<string, string>): Promise<Service>;
  /** Kills those that a failed test has left running. */
  endAll(): void;
}

const endings = new Set<() => void>();
process.once('exit', () => {
  for (const endAll of endings) endAll();
});

/** Returns functions that start processes. `endAll` kills what they have started, and nothing of other files. */
export function ownProcesses(): OwnProcesses {
  const running = new Set<ChildProcess>();
  const run: OwnProcesses['run'] = (args, env = {}, input = undefined) => {
    const child = spawn(process.execPath, [command, ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    // The command may end before it has read everything.
    child.stdin.on('error', () => undefined);
    if (input === undefined) child.stdin.end();
    else input.pipe(child.stdin);
    return watch(child);
  };
  const endAll = () => {
    for (const child of running) child.kill('SIGKILL');
  };
  endings.add(endAll);
  return {
    run,
    serve: (env) => served(run(['serve'], { PORT: '0', LOG_FORMAT: 'json', ...env })),
    endAll,
  };
}

/** Resolves with the service when it listens. */
async function served(service: Running): Promise<Service> {
  const [line] = await service.printed(/^.*"listening".*\n/m);
  const { url: address, management } = JSON.parse(line);
  const stop = () => {
    service.child.kill('SIGTERM');
    return service.ended;
  };
  return { ...service, address, port: Number(new URL(address).port), management, stop };
}

/** Returns the SHA-256 digest of a text in hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A token that the setting {@link ACCESS_TOKEN_SHA256} makes the service accept. */
export const TOKEN = 'a-token';
/** The value of the setting of this name that accepts {@link TOKEN}. */
export const ACCESS_TOKEN_SHA256 = sha256(TOKEN);

/** Sends a request to create a plant to the service at this address. */
export function createPlant(
  address: string,
  id: number,
  name = 'Monstera',
  token = TOKEN,
): Promise<Response> {
  return postPlant(address, JSON.stringify({ id, name }), { Authorization: `Bearer ${token}` });
}

/** Sends this body to create a plant, with the usual headers and others. */
export function postPlant(
  address: string,
  body: string,
  others: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const usual = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  return fetch(`${address}/plants`, { method: 'POST', headers: { ...usual, ...others }, body });
}
