import { AssertionError } from 'node:assert';

/** Fails a case with a message, in every test framework. */
export function fail(message: string): never {
  throw new AssertionError({ message, stackStartFn: fail });
}
