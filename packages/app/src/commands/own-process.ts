import type { EventEmitter } from 'node:events';
import {
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';

/** The parts of `process` that commands use; tests supply their own. */
export interface OwnProcess extends EventEmitter {
  readonly env: NodeJS.ProcessEnv;
  /** The id of the process that started it, or adopted it. */
  readonly ppid?: number;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  exit(code: number): void;
}

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd?: number };

/** The configuration is valid, but the service or a command cannot be started with it now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/**
 * Within this time, the same signal counts once: npm passes on a Ctrl-C that the terminal has sent to the service, too, and
 * what ends a terminal may send SIGTERM after SIGHUP.
 */
const REPEAT_MS = 250;

/** How often a process that npm started checks that npm's shell is still there. */
const SHELL_CHECK_MS = 200;

/**
 * Returns a controller that aborts on SIGINT or SIGTERM, with the signal's name as its reason. A second signal ends the
 * process immediately.
 */
export function stopOnSignals(process: OwnProcess): AbortController {
  const stopping = new AbortController();
  const { signal } = stopping;
  let stoppedAt = Number.POSITIVE_INFINITY;
  signal.addEventListener('abort', () => {
    stoppedAt = performance.now();
  });
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      if (!signal.aborted) return stopping.abort(name);
      const isSame = signal.reason === name || signal.reason === 'SIGHUP';
      if (isSame && performance.now() < stoppedAt + REPEAT_MS) return;
      printProblem(process, `ended by a second signal, ${name}`);
      process.exit(1);
    });
  }
  whenShellOfNpmEnds(process, () => stopping.abort('SIGTERM'));
  return stopping;
}

/** npm passes a signal on to its shell. Most shells die of it and tell nobody; Windows has no `exec` to replace the shell. */
function whenShellOfNpmEnds(process: OwnProcess, action: () => void): void {
  const { env, ppid } = process;
  if (env.npm_lifecycle_event === undefined) return;
  const checking = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(checking);
    action();
  }, SHELL_CHECK_MS);
  checking.unref();
}

/** Returns whether standard input or output is a terminal. When it is closed, a SIGHUP is sent. */
export function isOnTerminal({ stdin, stdout }: OwnProcess): boolean {
  return stdin.isTTY === true || stdout.isTTY === true;
}

/**
 * Returns whether `nohup` started the process, so that it outlives its terminal. Node.js no longer ignores SIGHUP then;
 * what remains is the shell's `_`, and on Linux a standard input that cannot be read.
 */
export function isUnderNohup({ env }: OwnProcess): boolean {
  const path = '/proc/self/fdinfo/0';
  const input = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return /(?:^|\/)nohup$/.test(env._ ?? '') || /^flags:\s+[0-7]*1$/m.test(input);
}

/**
 * Prints a problem to standard error. Control characters are escaped, because a terminal would execute one hidden in a
 * file name.
 */
export function printProblem({ stderr }: Pick<OwnProcess, 'stderr'>, text: string): void {
  const escaped = (it: string) => `\\x${it.charCodeAt(0).toString(16).padStart(2, '0')}`;
  stderr.write(`plant-store: ${text.replace(/[^\P{Cc}\n]/gu, escaped)}\n`);
}

/**
 * Opens a file to read. A pipe is opened without blocking: a thread that waits for a writer or for data could not be
 * ended, and would keep the process running.
 */
export function readerOf(path: string): Readable {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (isatty(fd)) return new ReadStream(fd);
  const isPipe = fstatSync(fd).isFIFO();
  return isPipe ? new Socket({ fd, readable: true }) : createReadStream(path, { fd });
}

/** Texts shorter than this are written synchronously, which is faster than waiting for a thread. */
const LONG = 2 ** 16;

/** Returns a function that resolves when all is written: `process.stdout` loses the rest of a write to a full disk. */
export function writerTo(stdout: Output): (text: string) => Promise<void> {
  const { fd } = stdout;
  if (fd === undefined || stdout.isTTY || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket()) {
    return promisify((text: string, done: (error?: Error | null) => void) =>
      stdout.write(text, done),
    );
  }
  const writeAll = promisify<number, string>(writeFile);
  return async (text) => (text.length < LONG ? writeFileSync(fd, text) : writeAll(fd, text));
}

/** Returns how many files the process may open, which Linux shows. */
export function maxFiles(): number {
  const path = '/proc/self/limits';
  const limits = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Returns the URL of a server for clients on this machine: on loopback when it listens on every address. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
