import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Running, watch } from '@plant-store/test-servers/service-process';
import { root, temporaryFolder } from '../../support/root.js';

const LEFT_OUT = new Set(['.git', '.cache']);
const ADDRESS = /http:\/\/127\.0\.0\.1:[1-9]\d*(?=\D)/;

/** The programs of `bin`, then the Node.js of the tests and the commands of the project. */
const PATH = [
  join(root, 'test/documents/support/bin'),
  dirname(process.execPath),
  join(root, 'node_modules/.bin'),
  process.env.PATH ?? '',
].join(delimiter);

const running = new Set<ChildProcess>();

/** Sends a signal to the process group of a shell, so that the processes that it has started end with it. */
function signal({ pid = 0 }: ChildProcess, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    // It is gone.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

process.once('exit', killAll);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => {
    killAll();
    process.kill(process.pid, name);
  });
}

function killAll(): void {
  for (const child of running) signal(child, 'SIGKILL');
}

/** Bash in a folder, into which a reader would paste commands. */
export class Terminal {
  readonly folder: string;
  readonly #started: Running[] = [];

  constructor(folder = temporaryFolder()) {
    this.folder = folder;
  }

  /** Opens a terminal in a folder with links to the project, so that new files are not written into the project. */
  static atRoot(): Terminal {
    const terminal = new Terminal();
    for (const name of readdirSync(root).filter((it) => !LEFT_OUT.has(it))) {
      symlinkSync(join(root, name), join(terminal.folder, name));
    }
    return terminal;
  }

  /** The text of a file in its folder. */
  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Starts commands, with their standard error on standard output. */
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

  /** Starts commands that run the service. Resolves with its address when it listens. */
  async serve(commands: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const [address] = await this.start(commands, { PORT: '0', ...env }).printed(ADDRESS);
    return address;
  }

  /** Runs commands and resolves with their output. Rejects when one of them fails. */
  async run(commands: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const started = this.start(commands, env);
    const ended = await started.ended;
    if (ended !== 0) throw new Error(`${commands}\nended with ${ended}: ${started.stdout()}`);
    return started.stdout();
  }

  /** Stops everything that was started, and waits for the end. */
  async stop(name: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    for (const { child } of this.#started) if (running.has(child)) signal(child, name);
    await Promise.all(this.#started.splice(0).map(({ ended }) => ended));
  }
}
