/** Returns the variables to check, what is wrong, and why, as one text. */
export function sentenceOf(error: unknown, variables?: string): string {
  const [problem, ...reasons] = messagesOf(error);
  const sentence = reasons.length === 0 ? `${problem}` : `${problem} (${reasons.join(': ')})`;
  return variables === undefined ? sentence : `${variables}: ${sentence}`;
}

/** Returns the messages of an error and its causes. None is empty, or a part of an earlier one. */
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
