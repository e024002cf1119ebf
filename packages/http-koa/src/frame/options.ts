/** Nothing that the router would take for a parameter or a pattern. */
const BASE_PATH = /^(?:\/[A-Za-z0-9._~-]+)*$/;

/**
 * The option, when it is a whole number above 0: `NaN` would lift a limit without a word.
 *
 * @throws {RangeError} naming the option.
 */
export function checkedCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name} must be a whole number above 0, found ${value}`);
}

/**
 * The path, when it is empty or segments like `/store/v1`.
 *
 * @throws {TypeError}
 */
export function plainPath(name: string, path: string): string {
  if (BASE_PATH.test(path)) return path;
  throw new TypeError(`${name} must be empty or segments like /store/v1, found '${path}'`);
}
