import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutantsOf } from './mutants.js';
import { sourcesOf, stagesFor, testsOf } from './package-tests.js';
import { describeMutant, type PackageResult } from './report.js';
import { runTests, type TestRun } from './run-tests.js';
import { sampleOf } from './sample.js';

/** How a package is mutated. */
export interface MutateOptions {
  readonly seed: number;
  readonly sample: number;
  /** Only sources whose path contains this are changed. */
  readonly source: string;
  /** Tests whose path contains one of these are not run. */
  readonly without: readonly string[];
  readonly signal: AbortSignal;
  survived(description: string): void;
}

interface Located extends Mutant {
  readonly path: string;
}

/** The longest time without output of the run without a change. */
const FIRST_RUN_PAUSE_MS = 120_000;
/** A run with a change may be three times as long without output as that run was, and 10 s. */
const PAUSE_FACTOR = 3;
const PAUSE_BUFFER_MS = 10_000;

/**
 * Changes the compiled sources of a package in a copy of the workspace, one change at a time, and runs
 * the package's tests. After an abort, resolves with the results so far.
 *
 * Rejects when the tests fail without a change.
 */
export async function mutatePackage(
  workspace: string,
  name: string,
  options: MutateOptions,
): Promise<PackageResult> {
  const { seed, sample, source, without, signal } = options;
  const tests = testsOf(workspace, name).filter((it) => !without.some((part) => it.includes(part)));
  const paths = sourcesOf(workspace, name).filter((path) => path.includes(source));
  const mutants = paths.flatMap((path) => locatedMutants(workspace, path));
  const counts = { passed: 0, failed: 0, 'timed out': 0 };
  const maxPause = await maxPauseOf(workspace, name, stagesFor(paths[0] ?? '', tests), signal);
  for (const mutant of sampleOf(mutants, sample, seed)) {
    const result = await resultOf(workspace, mutant, tests, maxPause, options);
    if (result === undefined) break;
    counts[result] += 1;
  }
  const { passed: survived, failed: killed, 'timed out': timedOut } = counts;
  return { name, mutants: mutants.length, killed, timedOut, survived };
}

function locatedMutants(workspace: string, path: string): Located[] {
  return mutantsOf(readFileSync(join(workspace, path), 'utf8')).map((it) => ({ ...it, path }));
}

async function maxPauseOf(
  workspace: string,
  name: string,
  stages: readonly string[][],
  signal: AbortSignal,
): Promise<number> {
  let longest = 0;
  for (const stage of stages) {
    const run = await runTests(workspace, stage, FIRST_RUN_PAUSE_MS, signal);
    const { result, output, longestPause } = run;
    if (result !== 'passed')
      throw new Error(`the tests of ${name} ${result} without a change:\n${output}`);
    longest = Math.max(longest, longestPause);
  }
  return PAUSE_FACTOR * longest + PAUSE_BUFFER_MS;
}

/** Resolves with the result of the tests for one change; with `undefined` after an abort. */
async function resultOf(
  workspace: string,
  mutant: Located,
  tests: readonly string[],
  maxPause: number,
  { signal, survived }: MutateOptions,
): Promise<TestRun['result'] | undefined> {
  const { path, start, end, text } = mutant;
  const file = join(workspace, path);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, source.slice(0, start) + text + source.slice(end));
  try {
    for (const stage of stagesFor(path, tests)) {
      const { result } = await runTests(workspace, stage, maxPause, signal);
      if (result !== 'passed') return result;
    }
    survived(describeMutant(path, source, mutant));
    return 'passed';
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    writeFileSync(file, source);
  }
}
