import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './subject.js';

/** Describes the machine, the commit and the versions of a run. */
export function machine() {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return {
    at: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD').trim(),
    changed: git('status', '--porcelain', '--', 'packages').trim() !== '',
    processor: cpus()[0]?.model ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    loadAverage: loadavg()[0] ?? 0,
    versions: { node: process.version, ...dependencies() },
  };
}

/** The description of a machine, from {@link machine}. */
export type Machine = ReturnType<typeof machine>;

function dependencies(): Record<string, string> {
  const manifest = readFileSync(join(root, 'tools/bench/peers/package.json'), 'utf8');
  return (JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies;
}
