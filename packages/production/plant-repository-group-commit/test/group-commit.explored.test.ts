import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import { ExploredWorld } from './support/explored-world.js';
import { describeHistories, WORLDS } from './support/explored-worlds.js';
import { bugs, withBug } from './support/planted-bugs.js';

const SURPRISES = 2;

describeHistories(SURPRISES);

describe('The explorer notices the planted bug that', function () {
  this.timeout(0);

  for (const [world, planted] of Object.entries(bugs)) {
    const plan = WORLDS[world] ?? expect.fail(`no world is named "${world}"`);
    for (const [bug, plant] of Object.entries(planted)) {
      it(`${bug} (${world})`, async () => {
        const open = () => ExploredWorld.open(plan, new Set());
        const { counterexample } = await withBug(plant, () => explore(open, SURPRISES + 1));
        expect(counterexample).to.be.a('string');
      });
    }
  }
});
