import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import {
  ExploredWorld,
  type PlannedAdd,
  type WorldOutcome,
  type WorldPlan,
} from './explored-world.js';

const A: PlannedAdd = { name: 'A', id: 1n, timeLimitMs: 300, instance: 0 };
const B: PlannedAdd = { ...A, name: 'B' };
const long = { timeLimitMs: 1_300 };
const elsewhere = { ...B, instance: 1 } as const;

/** Every plant has the same id, unless the name of the world says something else. */
export const WORLDS: Readonly<Record<string, WorldPlan>> = {
  'one plant': { adds: [{ ...A, ...long }] },
  'two plants with one id in a batch': {
    adds: [
      { ...A, timeLimitMs: 60 },
      { ...B, ...long },
    ],
  },
  'different ids in a batch': { adds: [A, { ...B, ...long, id: 2n }] },
  'a plant that is added later': { adds: [A, { ...B, isLate: true }] },
  'room for one insert and one retry in flight': {
    adds: [A, { ...B, ...long, isLate: true }],
    limits: { maxInFlight: 1, maxAside: 1 },
  },
  'retries that wait for connections': {
    adds: [
      { ...A, ...long },
      { ...B, ...long, id: 2n },
    ],
    lacksConnections: true,
  },
  'a server that does not recognise repeated inserts': {
    adds: [A, { ...B, ...long, id: 2n }],
    isRepeatable: false,
  },
  'two instances, and access that is revoked and granted': { adds: [A, elsewhere], revokes: true },
  'two instances': { adds: [A, elsewhere] },
  'another program that stores the id, and a short time limit': {
    adds: [{ ...A, timeLimitMs: 60 }, B],
    hasOtherProgram: true,
  },
};

/** Declares a test for each world, which tries every history with so many surprises. */
export function describeHistories(surprises: number): void {
  describe(`In every order of events with at most ${surprises} surprises, each outcome is true and in time:`, function () {
    this.timeout(0);

    for (const [name, plan] of Object.entries(WORLDS)) {
      it(name, async function () {
        const outcomes = new Set<WorldOutcome>();
        const open = () => ExploredWorld.open(plan, outcomes);
        const { counterexample, histories } = await explore(open, surprises);
        if (counterexample) expect.fail(counterexample);
        expect(outcomes).to.include.keys('stored', 'unavailable', 'unknown', 'refused');
        if (this.test) this.test.title += `: ${histories} histories`;
      });
    }
  });
}
