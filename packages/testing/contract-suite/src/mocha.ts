import { describe, it } from 'mocha';
import type { Runner } from './contract.js';

export {
  type Defect,
  type Difference,
  describeSuiteItself,
  type Expected,
  type FaultyAdapters,
  type Variant,
} from './describe-suite-itself.js';

export const mocha: Runner = {
  describe,
  it: (title, { timeout }, test) =>
    it(title, function () {
      return test(this);
    }).timeout(timeout),
};
