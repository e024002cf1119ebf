/** Checks a whole number above 0: `NaN` would disable a limit. @throws {RangeError} with the name of the option. */
export function expectPositiveInteger(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new RangeError(`${name} must be a whole number above 0, found ${value}`);
}
