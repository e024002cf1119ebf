import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childrenCpuTimeUs } from './cpu-time.js';
import { type Load, loadFigures, type Responses } from './load-process.js';
import { startStopwatch } from './stopwatch.js';
import { root } from './subject.js';

const SCRIPT = join(root, 'tools/bench/create-plants.lua');

/** Whether wrk is installed: it is a package of Debian, not of npm. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined;
}

/** wrk, with one thread. It takes whole seconds and has no warm-up. */
export const wrk: Load = {
  name: 'wrk',
  async run({ url, token, connections, windowMs, pids }) {
    const stop = startStopwatch(pids, childrenCpuTimeUs);
    const { stdout } = await promisify(execFile)('wrk', [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${Math.max(1, Math.round(windowMs / 1000))}s`,
      `--script=${SCRIPT}`,
      url,
      '--',
      token,
    ]);
    const used = stop();
    const report = stdout.slice(stdout.lastIndexOf('\n{'));
    return loadFigures(JSON.parse(report) as Responses, used);
  },
};
