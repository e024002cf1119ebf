import { explore } from '@plant-store/explorer';
import { expect } from 'chai';
import {
  ExploredModel,
  type ModelPlan,
  type PlannedAdd,
  type WorldOutcome,
} from './explored-model.js';

const A: PlannedAdd = { name: 'A', id: 1n, timeLimitMs: 300, instance: 0 };
const B: PlannedAdd = { ...A, name: 'B' };
const C: PlannedAdd = { ...A, name: 'C', id: 3n };

const within = (timeLimitMs: number, add: PlannedAdd): PlannedAdd => ({ ...add, timeLimitMs });
const brief = (add: PlannedAdd) => within(60, add);
/** Less than until a reply counts as lost. */
const soon = (add: PlannedAdd) => within(600, add);
const long = (add: PlannedAdd) => within(1_300, add);
/** Enough for a reply that is lost silently. */
const patient = (add: PlannedAdd) => within(5_000, add);
const late = (add: PlannedAdd): PlannedAdd => ({ ...add, isLate: true });
const other = (add: PlannedAdd): PlannedAdd => ({ ...add, id: 2n });
const elsewhere = (add: PlannedAdd): PlannedAdd => ({ ...add, instance: 1 });

/** Every plant has the same id, unless the name of the model says something else. */
export const MODELS: Readonly<Record<string, ModelPlan>> = {
  'one plant': { adds: [long(A)] },
  'one plant, and much time': { adds: [patient(A)] },
  'two plants with one id in a batch': { adds: [brief(A), long(B)] },
  'different ids in a batch': { adds: [A, long(other(B))] },
  'three plants in a batch, two with one id': { adds: [A, long(B), C] },
  'transactions of their own for two plants': { adds: [A, long(other(B))], isInParts: true },
  'a plant that is added later': { adds: [A, late(B)] },
  'room for one insert, and one again': { adds: [A, soon(late(B)), soon(late(C))], maxInFlight: 1 },
  'a server that does not recognise repeated inserts': {
    adds: [A, long(other(B))],
    isRepeatable: false,
  },
  'two instances, and access that is revoked and granted': {
    adds: [A, elsewhere(B)],
    revokes: true,
  },
  'two instances': { adds: [A, elsewhere(B)] },
  'another program that stores the id, and a short time limit': {
    adds: [brief(A), B],
    hasOtherProgram: true,
  },
  'an instance that is closed': { adds: [patient(A), patient(late(other(B)))], closes: true },
  'an instance that is closed, and a server that does not recognise repeated inserts': {
    adds: [patient(A), patient(other(B))],
    closes: true,
    isRepeatable: false,
  },
  'a process that is suspended': { adds: [patient(A), elsewhere(B)], suspends: true },
  'no time, a fraction of a millisecond, and no time limit': {
    adds: [within(0, A), within(0.5, other(B)), within(Number.POSITIVE_INFINITY, C)],
  },
};

/** Declares a test for each model, which tries every history with so many deviations. */
export function describeHistories(deviations: number): void {
  describe(`In every order of events with at most ${deviations} deviations, each outcome is true and in time:`, function () {
    this.timeout(0);

    for (const [name, plan] of Object.entries(MODELS)) {
      it(name, async function () {
        const outcomes = new Set<WorldOutcome>();
        const open = () => ExploredModel.open(plan, outcomes);
        const { counterexample, histories } = await explore(open, deviations);
        if (counterexample) expect.fail(counterexample);
        expect(outcomes).to.include.keys('stored', 'unavailable', 'unknown', 'refused');
        if (this.test) this.test.title += `: ${histories} histories`;
      });
    }
  });
}
