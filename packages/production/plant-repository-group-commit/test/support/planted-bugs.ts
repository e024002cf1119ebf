import { Batch } from '../../src/batch.js';
import type { PlantFinding } from '../../src/finding.js';
import { PendingPlant } from '../../src/pending-plant.js';

const prototypes = [PendingPlant, Batch].map((it) => it.prototype);
const { take, count } = Batch.prototype;
const REFUSAL = { finding: 'plant refused', code: 1, reason: 'a bug' } as const;

/** Members of a class are replaced. */
const replaced =
  <T extends object>({ prototype }: { readonly prototype: T }, by: Partial<T> & ThisType<T>) =>
  () =>
    void Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(by));

/** The findings about the plants of a batch are others. */
const misread = (mistake: (findings: readonly PlantFinding[]) => readonly PlantFinding[]) =>
  replaced(Batch, {
    count({ findings, error }) {
      const all = typeof findings === 'string' ? this.plants.map(() => findings) : findings;
      count.call(this, { findings: mistake(all), error });
    },
  });

/** One finding is mistaken for another. */
const mistaken = (finding: PlantFinding, other: PlantFinding) =>
  misread((findings) => findings.map((it) => (it === finding ? other : it)));

/** Errors in the real classes, by the world that notices them. One that only costs inserts would change no outcome. */
export const bugs: Readonly<Record<string, Readonly<Record<string, () => void>>>> = {
  'one plant': {
    'a sent batch counts as unwritten': replaced(Batch, { isPossiblyWritten: false }),
    'an attempt is counted twice': replaced(Batch, {
      take(insert) {
        take.call(this, insert);
        return take.call(this, insert);
      },
    }),
    'an unknown result counts as not written': mistaken('unknown', 'not now'),
    'an unknown result counts as stored': mistaken('unknown', 'stored'),
    'stored counts as taken': mistaken('stored', 'taken'),
    'an unusable database counts as a refused plant': mistaken('unusable', REFUSAL),
    'a batch always counts as possibly written': replaced(Batch, { isPossiblyWritten: true }),
    'a refusal counts although an earlier attempt may have written the plant': replaced(Batch, {
      count(result) {
        const [found] = result.findings;
        if (typeof found === 'object')
          for (const it of this.plants) it.settle(new Error('refused'));
        count.call(this, result);
      },
    }),
    'an attempt sends the plants of the next insert': replaced(Batch, {
      take() {
        return take.call(this, this.insert);
      },
    }),
    'a plant does not expire': replaced(PendingPlant, { giveUp() {} }),
    'a batch that could not be sent is forgotten': () => {
      const forgotten = new WeakSet<Batch>();
      replaced(Batch, {
        take(insert) {
          return forgotten.has(this) ? [] : take.call(this, insert);
        },
        countUnsent() {
          forgotten.add(this);
        },
      })();
    },
  },
  'two plants with one id in a batch': {
    'taken counts as stored': mistaken('taken', 'stored'),
  },
  'different ids in a batch': {
    'plants get the outcomes of others': misread((findings) => findings.toReversed()),
    'the outcome of one plant counts for all': misread((findings) =>
      findings.map((_, __, [first]) => first ?? 'unknown'),
    ),
  },
  'another program that stores the id, and a short time limit': {
    'not written counts as unknown': mistaken('not now', 'unknown'),
    'an insert still contains expired plants': replaced(Batch, {
      get pending() {
        return this.plants;
      },
    }),
  },
};

/** Calls with a bug in the real classes. */
export async function withBug<T>(plant: () => void, call: () => Promise<T>): Promise<T> {
  const real = prototypes.map((it) => Object.getOwnPropertyDescriptors(it));
  plant();
  try {
    return await call();
  } finally {
    for (const [at, it] of prototypes.entries()) Object.defineProperties(it, real[at] ?? {});
  }
}
