import { readFileSync } from 'node:fs';

/** What a command uses of its process. `process` is one; tests run commands with others. */
export interface OwnProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
  /** Returns the seconds since the process started. */
  uptime(): number;
}

/** Standard output or standard error. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd?: number };

/** The command line is invalid. The message names the argument and the rule. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The configuration is valid, but the service or a command cannot be started with it now. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Receives signals from now on, so that none ends the process, and none is lost before it is awaited. */
export class Signals {
  readonly #arrived: string[] = [];
  #receive = (signal: string) => void this.#arrived.push(signal);

  constructor(process: OwnProcess, ...signals: readonly NodeJS.Signals[]) {
    for (const signal of signals) process.on(signal, () => this.#receive(signal));
  }

  /** Resolves with the next signal. Not for concurrent callers. */
  next(): Promise<string> {
    return new Promise((resolve) => {
      const keep = this.#receive;
      const arrived = this.#arrived.shift();
      if (arrived !== undefined) return resolve(arrived);
      this.#receive = (signal) => {
        this.#receive = keep;
        resolve(signal);
      };
    });
  }
}

/** Returns how many files a process may open; `undefined` where the system does not show it. Linux shows it. */
export function maxFiles(): number | undefined {
  try {
    const [, limit] =
      /^Max open files +([0-9]+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Returns the URL of a server for clients on this machine: on loopback when it listens on every address. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
