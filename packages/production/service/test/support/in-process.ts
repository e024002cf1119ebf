import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { ACCESS_TOKEN_SHA256 } from '@plant-store/test-servers/service-process';
import type { OwnProcess } from '../../src/commands/own-process.js';
import { main } from '../../src/main.js';

/** Long even for a busy machine, and shorter than Mocha's limit, which names no reason. */
const MAX_WAIT_MS = 100_000;

const running = new Set<Command>();

/** A `plant-store` command that runs in the process of the test. It gets the signals that the test emits. */
export class Command extends EventEmitter implements OwnProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough({ encoding: 'utf8' });
  readonly stderr = new PassThrough({ encoding: 'utf8' });
  /** What it has printed to standard output so far. */
  out = '';
  /** What it has printed to standard error so far. */
  err = '';
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;

  readonly env: NodeJS.ProcessEnv;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    super();
    this.env = env;
    for (const name of ['out', 'err'] as const) {
      this[`std${name}`].on('data', (text) => {
        this[name] += text;
        this.emit('printed');
      });
    }
    running.add(this);
    const exited = once(this, 'exit').then(([code]) => code);
    this.ended = Promise.race([main(args, this), exited]).finally(() => running.delete(this));
  }

  exit(code: number): void {
    this.emit('exit', code);
  }

  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number> {
    this.emit('SIGTERM', 'SIGTERM');
    return Promise.race([this.ended, this.#late('it has not ended after SIGTERM')]);
  }

  /** Resolves with the first match in one of the outputs; rejects when the command ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    // Only once it is awaited: nothing would handle its rejection otherwise.
    let late: Promise<never> | undefined;
    for (;;) {
      const match = pattern.exec(this.out) ?? pattern.exec(this.err);
      if (match) return match;
      late ??= this.#late(`it has not printed ${pattern}`);
      const printed = once(this, 'printed').then(() => undefined);
      const code = await Promise.race([printed, this.ended, late]);
      if (code !== undefined && !pattern.test(this.out + this.err)) {
        throw new Error(`ended with ${code}: ${this.out}${this.err}`);
      }
    }
  }

  async #late(problem: string): Promise<never> {
    await wait(MAX_WAIT_MS, undefined, { ref: false });
    throw new Error(`${problem}: ${this.out}${this.err}`);
  }
}

export async function result(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = new Command(args, env);
  return { code: await command.ended, out: command.out, err: command.err };
}

/** A service that runs in the process of the test, and listens. */
export interface Service extends Command {
  readonly address: string;
  /** The address of the management listener; `undefined` without `MANAGEMENT_PORT`. */
  readonly management: string | undefined;
}

/** Starts the service on a free port. Resolves when it listens. */
export async function serveHere(
  env: NodeJS.ProcessEnv = {},
  verifier: NodeJS.ProcessEnv = { ACCESS_TOKEN_SHA256 },
): Promise<Service> {
  const service = new Command(['serve'], { PORT: '0', LOG_FORMAT: 'json', ...verifier, ...env });
  const [line] = await service.printed(/^.*"listening".*\n/m);
  const { url: address, management } = JSON.parse(line);
  return Object.assign(service, { address, management });
}

/** Resolves with the lines of the metrics of a service. */
export async function metricsOf({ management }: Service): Promise<string[]> {
  return (await (await fetch(`${management}/metrics`)).text()).split('\n');
}

/** Opens a connection to the service, and sends these bytes. */
export function connectTo({ address }: Pick<Service, 'address'>, bytes: string) {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  return socket.setEncoding('latin1');
}

/** Stops the commands that a failed test has left running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((command) => command.stop()));
}
