import type { Mutant } from './mutants.js';

/** The results of the sample of one package. */
export interface PackageResult {
  readonly name: string;
  /** The number of possible changes, from which the sample was chosen. */
  readonly mutants: number;
  readonly killed: number;
  readonly timedOut: number;
  readonly survived: number;
}

/** Returns a Markdown table with a row for each package, and one for all. */
export function tableOf(results: readonly PackageResult[]): string {
  const sum = (count: (result: PackageResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const all: PackageResult = {
    name: 'all',
    mutants: sum(({ mutants }) => mutants),
    killed: sum(({ killed }) => killed),
    timedOut: sum(({ timedOut }) => timedOut),
    survived: sum(({ survived }) => survived),
  };
  return [
    '| package | possible changes | sample | test failed | timed out | not noticed | noticed |',
    '|---|---|---|---|---|---|---|',
    ...[...results, all].map(rowOf),
  ].join('\n');
}

function rowOf({ name, mutants, killed, timedOut, survived }: PackageResult): string {
  const sample = killed + timedOut + survived;
  const noticed = sample === 0 ? '' : `${Math.round((100 * (killed + timedOut)) / sample)} %`;
  return `| ${[name, mutants, sample, killed, timedOut, survived, noticed].join(' | ')} |`;
}

/** Returns the place and the text of a change, on one line. */
export function describeMutant(path: string, source: string, { start, end, text }: Mutant): string {
  const line = source.slice(0, start).split('\n').length;
  const before = source.slice(start, end).replace(/\s+/g, ' ');
  const whole = source.split('\n')[line - 1]?.trim() ?? '';
  return `${path}:${line}: ${before} -> ${text}    in: ${whole}`;
}
