import type { EventEmitter } from 'node:events';
import {
  constants,
  createReadStream,
  fstatSync,
  openSync,
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
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  exit(code: number): void;
}

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd?: number };

/** The configuration is valid, but the service or a command cannot be started with it now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** A signal that follows within this time belongs to the first: npm passes on a Ctrl-C that the terminal sends to both. */
const REPEAT_MS = 250;

/**
 * Returns a controller that aborts on the first of these signals, with its name as its reason. A second one ends the
 * process immediately, unless it follows within 0.25 s.
 */
export function stopOnSignals(process: OwnProcess, names: readonly string[]): AbortController {
  const stopping = new AbortController();
  let stoppedAt = 0;
  const stop = (name: string) => {
    if (!stopping.signal.aborted) {
      stoppedAt = performance.now();
      stopping.abort(name);
    } else if (performance.now() >= stoppedAt + REPEAT_MS) {
      printProblem(process, `ended by a second signal, ${name}`);
      process.exit(1);
    }
  };
  for (const name of names) process.on(name, () => stop(name));
  return stopping;
}

/**
 * Prints a problem to standard error. Control characters are escaped, because a terminal would execute one hidden in a
 * value.
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

/** Shorter texts are written synchronously: otherwise, an import that rejects many lines would take several times as long. */
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

/** Returns the URL of a server for clients on this machine: on loopback when it listens on every address. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
