import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import { ExploredModel } from './support/explored-model.js';
import { describeHistories, MODELS } from './support/explored-models.js';
import { BUGS, withBug } from './support/planted-bugs.js';

const DEVIATIONS = 2;

describeHistories(DEVIATIONS);

describe('The explorer notices the planted bug that', function () {
  this.timeout(0);

  for (const [model, planted] of Object.entries(BUGS)) {
    const plan = MODELS[model] ?? expect.fail(`no model is named "${model}"`);
    for (const [what, bug] of Object.entries(planted)) {
      it(`${what} (${model})`, async () => {
        const { counterexample } = await withBug(bug, (tested) =>
          explore(() => ExploredModel.open(plan, new Set(), tested), DEVIATIONS),
        );
        expect(counterexample).to.be.a('string');
      });
    }
  }
});
