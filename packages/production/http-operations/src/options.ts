import { BASE_PATH } from '@plant-store/http-koa';

/** Returns a whole number above 0: `NaN` would disable a limit. @throws {RangeError} with the name of the option. */
export function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name} must be a whole number above 0, found ${value}`);
}

/** Returns a path that is empty, or segments such as `/store/v1`. @throws {TypeError} with the name of the option. */
export function plainPath(name: string, path: string): string {
  if (BASE_PATH.test(path)) return path;
  throw new TypeError(`${name} must be empty or segments like /store/v1, found '${path}'`);
}
