import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import { ExploredWorld } from './support/explored-world.js';
import { describeHistories, WORLDS } from './support/explored-worlds.js';
import { BUGS, withBug } from './support/planted-bugs.js';

const SURPRISES = 2;

describeHistories(SURPRISES);

describe('The explorer notices the planted bug that', function () {
  this.timeout(0);

  for (const [world, planted] of Object.entries(BUGS)) {
    const plan = WORLDS[world] ?? expect.fail(`no world is named "${world}"`);
    for (const [what, bug] of Object.entries(planted)) {
      it(`${what} (${world})`, async () => {
        const { counterexample } = await withBug(bug, (tested) =>
          explore(() => ExploredWorld.open(plan, new Set(), tested), SURPRISES),
        );
        expect(counterexample).to.be.a('string');
      });
    }
  }
});
