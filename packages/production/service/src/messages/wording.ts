import { getSystemErrorMap } from 'node:util';

/** Joins words with commas and "or": "a, b or c". */
export function anyOf(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words);
}

/** Returns one line that names the variables to check, the problem and its causes. */
export function sentenceOf(error: unknown, variables?: string): string {
  const [problem, ...reasons] = messagesOf(error);
  const sentence = reasons.length === 0 ? `${problem}` : `${problem} (${reasons.join(': ')})`;
  return variables === undefined ? sentence : `${variables}: ${sentence}`;
}

/**
 * Returns why a system call failed, without the path, which may be a secret in the wrong place. Rethrows an error that
 * has no code.
 */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) throw error;
  const { code, errno = 0 } = error as NodeJS.ErrnoException;
  const [, meaning] = getSystemErrorMap().get(errno) ?? [];
  return meaning === undefined ? `${code}` : `${code}: ${meaning}`;
}

/** Returns the messages of an error and its causes, leaving out empty ones and those contained in an earlier one. */
export function messagesOf(error: unknown): string[] {
  return chainOf(error).filter(
    (it, index, all) => !all.slice(0, index).some((earlier) => earlier.includes(it)),
  );
}

function chainOf(error: unknown): string[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [String(error)];
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.message, ...[error.cause, ...several].flatMap(chainOf)];
}

/** Returns the known name that was probably meant: this one, or the first that differs by one edit. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  return known.find((it) => it === name) ?? known.find((it) => isOneEditFrom(name, it));
}

/** Returns whether to insert, remove or replace a character, or to swap two, turns `a` into `b`. */
function isOneEditFrom(a: string, b: string): boolean {
  const at = [...a, ''].findIndex((character, index) => character !== b[index]);
  const [left, right] = [a.slice(at), b.slice(at)];
  const [one, two] = left;
  return (
    left === right.slice(1) ||
    left.slice(1) === right ||
    left.slice(1) === right.slice(1) ||
    `${two}${one}${left.slice(2)}` === right
  );
}
