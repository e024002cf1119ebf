import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built command. */
export const command = fileURLToPath(new URL('../../bin/plant-store.js', import.meta.url));

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

const running = new Set<ChildProcess>();

/** Starts the command with nothing in its environment but `PATH` and what is given. */
export function run(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
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

/** Ends whatever a failed test has left behind. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
