import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutantsOf } from './mutants.js';
import { inOrderFor, sourcesOf, testsOf } from './package-tests.js';
import { describeMutant, type PackageResult } from './report.js';
import { runTests } from './run-tests.js';
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

/** The time limit of the run without a change. A run with a change may take three times as long as that, and 15 s. */
const FIRST_RUN_LIMIT_MS = 600_000;
const LIMIT_FACTOR = 3;
const LIMIT_BUFFER_MS = 15_000;

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
  const timeLimit = await timeLimitOf(workspace, name, tests, signal);
  for (const mutant of sampleOf(mutants, sample, seed)) {
    const result = await resultOf(workspace, mutant, tests, timeLimit, options);
    if (result === undefined) break;
    counts[result] += 1;
  }
  const { passed: survived, failed: killed, 'timed out': timedOut } = counts;
  return { name, mutants: mutants.length, killed, timedOut, survived };
}

function locatedMutants(workspace: string, path: string): Located[] {
  return mutantsOf(readFileSync(join(workspace, path), 'utf8')).map((it) => ({ ...it, path }));
}

async function timeLimitOf(
  workspace: string,
  name: string,
  tests: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const started = performance.now();
  const { result, output } = await runTests(workspace, tests, FIRST_RUN_LIMIT_MS, signal);
  if (result !== 'passed')
    throw new Error(`the tests of ${name} ${result} without a change:\n${output}`);
  return LIMIT_FACTOR * (performance.now() - started) + LIMIT_BUFFER_MS;
}

/** Resolves with the result of the tests for one change; with `undefined` after an abort. */
async function resultOf(
  workspace: string,
  mutant: Located,
  tests: readonly string[],
  timeLimit: number,
  { signal, survived }: MutateOptions,
): Promise<'passed' | 'failed' | 'timed out' | undefined> {
  const { path, start, end, text } = mutant;
  const file = join(workspace, path);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, source.slice(0, start) + text + source.slice(end));
  try {
    const { result } = await runTests(workspace, inOrderFor(path, tests), timeLimit, signal);
    if (result === 'passed') survived(describeMutant(path, source, mutant));
    return result;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    writeFileSync(file, source);
  }
}
