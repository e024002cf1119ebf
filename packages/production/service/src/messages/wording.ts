import { getSystemErrorMap } from 'node:util';

/** Returns words as a text, such as "a, b or c". */
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

/** Returns the known name that was probably meant: the first with the fewest edits, at most 2 by default, or 1 if it is short. */
export function nearest(
  name: string,
  known: readonly string[],
  maxEdits: 1 | 2 = 2,
): string | undefined {
  for (let edits = 1; edits <= (name.length < 8 ? 1 : maxEdits); edits += 1) {
    const meant = known.find((candidate) => isWithin(edits, name, candidate));
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** Returns whether at most `edits` edits turn `a` into `b`: each inserts, removes or replaces a character, or swaps two. */
function isWithin(edits: number, a: string, b: string): boolean {
  if (a === b) return true;
  if (a !== '' && a[0] === b[0]) return isWithin(edits, a.slice(1), b.slice(1));
  if (edits === 0) return false;
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0];
  return (
    isWithin(edits - 1, a.slice(1), b.slice(1)) ||
    isWithin(edits - 1, a.slice(1), b) ||
    isWithin(edits - 1, a, b.slice(1)) ||
    (isSwapped && isWithin(edits - 1, a.slice(2), b.slice(2)))
  );
}
