import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TOKEN } from './requests.js';

const COMMAND = fileURLToPath(new URL('../../../packages/app/bin/plant-store.js', import.meta.url));

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The service as its own process, known only by its command, its environment and its port. */
export class Service {
  readonly port: number;
  readonly #process: ChildProcess;
  #output = '';

  private constructor(child: ChildProcess, port: number) {
    this.#process = child;
    this.port = port;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        this.#output += text;
      });
    }
  }

  /** What it has printed since it told its address. */
  get output(): string {
    return this.#output;
  }

  /**
   * Resolves when the service has printed its address; rejects with what it printed when it exits before.
   *
   * @param settings Environment variables. Nothing but `PATH` is taken over from this process.
   */
  static async start(settings: Record<string, string> = {}): Promise<Service> {
    const child = spawn(process.execPath, [COMMAND, 'serve'], {
      env: { PATH: process.env.PATH, PORT: '0', ACCESS_TOKEN_SHA256: sha256(TOKEN), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return new Service(child, await printedPort(child));
  }

  /** Begins a graceful stop. */
  terminate(): void {
    this.#process.kill('SIGTERM');
  }

  /** Stops gracefully and resolves with the exit code. */
  async stop(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exit = once(this.#process, 'exit');
    if (!this.#process.killed) this.terminate();
    const [code] = await exit;
    return code;
  }
}

/** A service while the tests of a `describe` run. */
export interface UsedService {
  readonly port: number;
  readonly settings: Record<string, string>;
}

/** Starts one service before the tests of the surrounding `describe` and stops it after them. */
export function useService(settings: Record<string, string> = {}): UsedService {
  let service: Service | undefined;
  before(async () => {
    service = await Service.start(settings);
  });
  after(async () => {
    const code = await service?.stop();
    if (code !== 0) throw new Error(`the service did not stop with 0 but with ${code}`);
  });
  return {
    settings,
    get port() {
      if (service === undefined) throw new Error('the service runs during tests only');
      return service.port;
    },
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function printedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const read = (chunk: string): void => {
      printed += chunk;
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (port !== undefined) resolve(Number(port));
    };
    child.stdout?.setEncoding('utf8').on('data', read);
    child.stderr?.setEncoding('utf8').on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`exited with ${code}: ${printed}`)));
  });
}
