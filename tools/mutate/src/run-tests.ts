import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The result and the output of a run of tests. */
export interface TestRun {
  readonly result: 'passed' | 'failed' | 'timed out';
  readonly output: string;
}

/**
 * Runs test files in this order, until the first failure. At the time limit, or when the signal aborts, ends
 * Mocha together with every process that the tests have started.
 */
export async function runTests(
  workspace: string,
  files: readonly string[],
  timeLimit: number,
  signal: AbortSignal,
): Promise<TestRun> {
  signal.throwIfAborted();
  const mocha = join(workspace, 'node_modules/mocha/bin/mocha.js');
  const options = ['--no-config', '--bail', '--exit', '--timeout', '10000', '--reporter', 'dot'];
  const child = spawn(process.execPath, [mocha, ...options, ...files], {
    cwd: workspace,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stop = () => endGroup(child);
  signal.addEventListener('abort', stop);
  const timer = setTimeout(stop, timeLimit);
  const output = text(child.stdout);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  stop();
  signal.throwIfAborted();
  const result = code === 0 ? 'passed' : code === null ? 'timed out' : 'failed';
  return { result, output: await output };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
