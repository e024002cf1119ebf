import { EventEmitter, on } from 'node:events';
import type { Readable } from 'node:stream';
import { nearest, printable } from '../configuration/setting.js';

/** What a command uses of its process. `process` is one; tests run commands with others. */
export interface OwnProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd: number };
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Standard output or standard error. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd?: number };

/** The command line is invalid. The message names the argument and the rule. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(problem: string) {
    super(printable(problem));
  }
}

/** Where the commands and their arguments are listed. */
export const SEE = 'See plant-store --help';

/** Returns the problem of an unknown word, with the known one that was probably meant. */
export function unknown(kind: string, word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return `unknown ${kind} '${word}'. ${meant === undefined ? SEE : `Did you mean ${meant}?`}`;
}

/** The configuration is valid, but the service or a command cannot be started with it now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Receives signals from now on, so that none ends the process, and none is lost before it is awaited. */
export class Signals {
  readonly #arrived: AsyncIterator<string[]>;

  constructor(process: OwnProcess, ...signals: readonly NodeJS.Signals[]) {
    const arrivals = new EventEmitter();
    for (const signal of signals) process.on(signal, () => arrivals.emit('signal', signal));
    this.#arrived = on(arrivals, 'signal');
  }

  /** Resolves with the next signal. */
  async next(): Promise<string> {
    const { value } = await this.#arrived.next();
    return `${value}`;
  }
}

/** Returns the URL of a server for clients on this machine: on loopback when it listens on every address. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
