import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Running, watch } from '@plant-store/service-process';
import { root } from './snippet.js';

const LEFT_OUT = new Set(['.git', '.cache']);
const ADDRESS = /http:\/\/127\.0\.0\.1:[1-9]\d*(?=\D)/;

/** The programs of `bin` come first, then the Node.js of the tests and the commands of the project. */
const PATH = [
  join(root, 'test/snippets/bin'),
  dirname(process.execPath),
  join(root, 'node_modules/.bin'),
  join(root, '.cache/checkers/python/bin'),
  process.env.PATH ?? '',
].join(delimiter);

const running = new Set<ChildProcess>();

/** A shell runs in a process group of its own, so that what it has started ends with it. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!isGone) throw error;
  }
}

function killAll(): void {
  for (const child of running) signal(child, 'SIGKILL');
}

process.once('exit', killAll);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => {
    killAll();
    process.kill(process.pid, name);
  });
}

/** What a reader pastes commands into: Bash, in a folder. */
export class Terminal {
  readonly folder: string;
  readonly #started: Running[] = [];

  constructor(folder = mkdtempSync(join(tmpdir(), 'plant-store-snippets-'))) {
    this.folder = folder;
  }

  /** A terminal in a folder of links to the project: a file that is written there does not reach it. */
  static atRoot(): Terminal {
    const terminal = new Terminal();
    for (const name of readdirSync(root).filter((it) => !LEFT_OUT.has(it))) {
      symlinkSync(join(root, name), join(terminal.folder, name));
    }
    return terminal;
  }

  /** Starts commands. What they print to standard error comes on standard output, as on a screen. */
  start(commands: string, env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn('bash', ['-e', '-c', `exec 2>&1\n${commands}`], {
      cwd: this.folder,
      env: { PATH, HOME: process.env.HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    const started = watch(child);
    this.#started.push(started);
    return started;
  }

  /** Starts commands that run the service; resolves with its address when it listens. */
  async serve(commands: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const [address] = await this.start(commands, { PORT: '0', ...env }).printed(ADDRESS);
    return address;
  }

  /** Runs commands; resolves with what they print, and rejects when one of them fails. */
  async run(commands: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const started = this.start(commands, env);
    const ended = await started.ended;
    if (ended !== 0) throw new Error(`${commands}\nended with ${ended}: ${started.stdout()}`);
    return started.stdout();
  }

  /** Ends what was started, and waits for it. */
  async stop(name: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    for (const { child } of this.#started) if (running.has(child)) signal(child, name);
    await Promise.all(this.#started.splice(0).map(({ ended }) => ended));
  }

  /** Also removes the folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }
}
