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
/** Less than until a reply counts as lost. */
const soon = { timeLimitMs: 800 };
const long = { timeLimitMs: 1_300 };
/** Enough for a reply that is lost silently. */
const patient = { timeLimitMs: 5_000 };
const other = { id: 2n };
const elsewhere = { ...B, instance: 1 } as const;
const late = { isLate: true } as const;

/** Every plant has the same id, unless the name of the model says something else. */
export const MODELS: Readonly<Record<string, ModelPlan>> = {
  'one plant': { adds: [{ ...A, ...long }] },
  'one plant, and much time': { adds: [{ ...A, ...patient }] },
  'two plants with one id in a batch': {
    adds: [
      { ...A, timeLimitMs: 60 },
      { ...B, ...long },
    ],
  },
  'different ids in a batch': { adds: [A, { ...B, ...long, ...other }] },
  'three plants in a batch, two with one id': { adds: [A, { ...B, ...long }, C] },
  'transactions of their own for two plants': {
    adds: [A, { ...B, ...long, ...other }],
    isInParts: true,
  },
  'a plant that is added later': { adds: [A, { ...B, ...late }] },
  'room for one insert, and one again': {
    adds: [A, { ...B, ...soon, ...late }, { ...C, ...soon, ...late }],
    maxInFlight: 1,
  },
  'a server that does not recognise repeated inserts': {
    adds: [A, { ...B, ...long, ...other }],
    isRepeatable: false,
  },
  'two instances, and access that is revoked and granted': { adds: [A, elsewhere], revokes: true },
  'two instances': { adds: [A, elsewhere] },
  'another program that stores the id, and a short time limit': {
    adds: [{ ...A, timeLimitMs: 60 }, B],
    hasOtherProgram: true,
  },
  'an instance that is closed': {
    adds: [
      { ...A, ...patient },
      { ...B, ...patient, ...other, ...late },
    ],
    closes: true,
  },
  'an instance that is closed, and a server that does not recognise repeated inserts': {
    adds: [
      { ...A, ...patient },
      { ...B, ...patient, ...other },
    ],
    closes: true,
    isRepeatable: false,
  },
  'a process that is suspended': { adds: [{ ...A, ...patient }, elsewhere], suspends: true },
  'no time, a fraction of a millisecond, and no time limit': {
    adds: [
      { ...A, timeLimitMs: 0 },
      { ...B, ...other, timeLimitMs: 0.5 },
      { ...C, timeLimitMs: Number.POSITIVE_INFINITY },
    ],
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
