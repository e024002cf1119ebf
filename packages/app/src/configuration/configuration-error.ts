/** The environment variables are invalid. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** All problems; each names the variable, what was expected, and how to fix it. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}
