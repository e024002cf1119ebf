/** The command line is invalid. The message names the argument and the rule. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
