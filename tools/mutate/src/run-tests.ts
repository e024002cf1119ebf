import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The result and the output of a run of tests. */
export interface TestRun {
  readonly result: 'passed' | 'failed' | 'timed out';
  readonly output: string;
  /** The longest time without output, in milliseconds: mocha prints a dot after each test. */
  readonly longestPause: number;
}

/**
 * Runs test files in this order, until the first failure. After `maxPause` milliseconds without output, or when
 * the signal aborts, ends mocha together with every process that the tests have started.
 */
export async function runTests(
  workspace: string,
  files: readonly string[],
  maxPause: number,
  signal: AbortSignal,
): Promise<TestRun> {
  signal.throwIfAborted();
  const child = startMocha(workspace, files);
  const stop = () => endGroup(child);
  signal.addEventListener('abort', stop);
  const timer = setTimeout(stop, maxPause);
  const output: string[] = [];
  const pauses = pausesOf(child.stdout, (text) => {
    timer.refresh();
    output.push(text);
  });
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  stop();
  signal.throwIfAborted();
  const result = code === 0 ? 'passed' : code === null ? 'timed out' : 'failed';
  return { result, longestPause: Math.max(...(await pauses)), output: output.join('') };
}

function startMocha(workspace: string, files: readonly string[]) {
  const mocha = join(workspace, 'node_modules/mocha/bin/mocha.js');
  const options = ['--no-config', '--bail', '--exit', '--timeout', '10000', '--reporter', 'dot'];
  return spawn(process.execPath, [mocha, ...options, ...files], {
    cwd: workspace,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** Resolves at the end of the output with the milliseconds before each part of it, and before its end. */
async function pausesOf(
  stdout: NodeJS.ReadableStream,
  received: (text: string) => void,
): Promise<number[]> {
  const pauses: number[] = [];
  let last = performance.now();
  const pauseEnds = () => {
    const now = performance.now();
    pauses.push(now - last);
    last = now;
  };
  for await (const part of stdout) {
    pauseEnds();
    received(String(part));
  }
  pauseEnds();
  return pauses;
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
