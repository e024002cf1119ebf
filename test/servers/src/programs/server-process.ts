import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How a program is started, and how it shows that it accepts connections. */
export interface Start {
  readonly path: string;
  readonly args: readonly string[];
  /** The line that it prints then. */
  readonly ready: RegExp;
  /** Where it prints that line. */
  readonly output: 'stdout' | 'stderr';
  readonly options?: Pick<SpawnOptions, 'cwd' | 'uid' | 'gid' | 'env'>;
}

/**
 * One server of another program, with its data in a folder of its own. The server is killed, and its data removed, when
 * this process ends; it does not keep this process running.
 */
export class ServerProcess {
  /** The folder for its data, empty at first. */
  readonly folder: string;
  readonly #endSignal: NodeJS.Signals;
  #child: ChildProcess | undefined;
  #frozen = false;
  readonly #exit = () => this.#destroy();
  readonly #signal = (signal: NodeJS.Signals) => {
    this.#destroy();
    process.kill(process.pid, signal);
  };

  /**
   * @param name A part of the name of its folder.
   * @param endSignal The signal that ends it when the tests are over.
   */
  constructor(name: string, endSignal: NodeJS.Signals = 'SIGKILL') {
    this.#endSignal = endSignal;
    this.folder = mkdtempSync(join(tmpdir(), `plant-store-${name}-`));
    process.once('exit', this.#exit);
    for (const signal of SIGNALS) process.once(signal, this.#signal);
  }

  /** The id of the process that runs now; 0 when none runs. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts the program. Resolves when it is ready; rejects with what it printed when it ends before. */
  async start({ path, args, ready, output, options }: Start): Promise<void> {
    const stdio = ['ignore', 'ignore', 'ignore'] as ('ignore' | 'pipe')[];
    stdio[output === 'stdout' ? 1 : 2] = 'pipe';
    const child = spawn(path, [...args], { ...options, stdio });
    this.#child = child;
    await untilPrinted(child[output], ready);
    child.unref();
  }

  /** Ends the server, by default as a crash would. Resolves when it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    const gone = once(child, 'exit');
    child.kill(signal);
    this.thaw();
    this.#child = undefined;
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

  /** Ends the server and removes its data. */
  async stop(): Promise<void> {
    await this.kill(this.#endSignal);
    this.#destroy();
  }

  #destroy(): void {
    this.#child?.kill(this.#endSignal);
    process.removeListener('exit', this.#exit);
    for (const signal of SIGNALS) process.removeListener(signal, this.#signal);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function untilPrinted(output: Readable | null, ready: RegExp): Promise<void> {
  if (output === null) throw new Error('the output of the server is not read');
  let printed = '';
  for await (const line of createInterface({ input: output })) {
    printed += `${line}\n`;
    if (ready.test(line)) {
      output.resume();
      (output as Readable & { unref?(): void }).unref?.();
      return;
    }
  }
  throw new Error(`the server ended before it accepted connections:\n${printed}`);
}

function isStopped(pid: number): boolean {
  return execFileSync('ps', ['-o', 'state=', '-p', `${pid}`], { encoding: 'utf8' }).startsWith('T');
}
