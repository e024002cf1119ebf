import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import {
  ExploredWorld,
  type Outcome,
  type PlannedAdd,
  type WorldPlan,
} from './support/explored-world.js';
import { bugs, withBug } from './support/planted-bugs.js';

/** `npm run explore` raises it to 3. */
const SURPRISES = Number(process.env.SURPRISES ?? 2);

const A: PlannedAdd = { name: 'A', id: 1n, timeLimitMs: 300, instance: 0 };
const B: PlannedAdd = { ...A, name: 'B' };
/** Long enough for an insert to reach the attempt timeout. */
const long = { timeLimitMs: 1_300 };
const elsewhere = { ...B, instance: 1 } as const;

/** Every plant has the same id, unless the name of the world says something else. */
const WORLDS: Readonly<Record<string, WorldPlan>> = {
  'one plant': { adds: [{ ...A, ...long }] },
  'twins in a batch': {
    adds: [
      { ...A, timeLimitMs: 60 },
      { ...B, ...long },
    ],
  },
  'different ids in a batch': { adds: [A, { ...B, ...long, id: 2n }] },
  'a plant that joins later': { adds: [A, { ...B, isLate: true }] },
  'one slot for each kind of insert': {
    adds: [A, { ...B, ...long, isLate: true }],
    limits: { ordinary: 1, suspects: 1, stragglers: 0 },
  },
  'two instances, and access that is revoked and granted': { adds: [A, elsewhere], revokes: true },
  'two instances, and replies with marks': { adds: [A, elsewhere], repliesWithMarks: true },
  'another program, and a short time limit': {
    adds: [{ ...A, timeLimitMs: 60 }, B],
    hasOtherProgram: true,
  },
};

describe(`In every history with at most ${SURPRISES} surprises, each outcome is true and in time:`, function () {
  this.timeout(0);

  for (const [name, plan] of Object.entries(WORLDS)) {
    it(name, async function () {
      const outcomes = new Set<Outcome>();
      const open = () => ExploredWorld.open(plan, outcomes);
      const { counterexample, histories } = await explore(open, SURPRISES);
      if (counterexample) expect.fail(counterexample);
      expect(outcomes).to.include.keys('stored', 'unavailable', 'unknown', 'refused');
      if (this.test) this.test.title += `: ${histories} histories`;
    });
  }
});

describe('A planted bug is noticed', function () {
  this.timeout(0);

  for (const [world, planted] of Object.entries(bugs)) {
    const plan = WORLDS[world] ?? expect.fail(`there is no world "${world}"`);
    for (const [bug, plant] of Object.entries(planted)) {
      it(`in the world "${world}": ${bug}`, async () => {
        const open = () => ExploredWorld.open(plan, new Set());
        const { counterexample } = await withBug(plant, () => explore(open, 2));
        expect(counterexample).to.be.a('string');
      });
    }
  }
});
