import { describe, it } from 'mocha';
import type { Runner } from './contract.js';

/** Mocha, for the suite of a port. */
export const mocha: Runner = {
  describe,
  it: (title, { timeout }, test) => it(title, test).timeout(timeout),
};
