import { Batch } from '../../src/batch.js';
import type { PlantFinding } from '../../src/finding.js';
import { GroupCommit } from '../../src/group-commit.js';
import { InsertQueue } from '../../src/insert-queue.js';
import { PendingPlant } from '../../src/pending-plant.js';

const prototypes = [PendingPlant, Batch, InsertQueue, GroupCommit].map((it) => it.prototype);
const { endInsert } = PendingPlant.prototype;
const { begin, end } = Batch.prototype;
const REFUSAL = { finding: 'plant refused', code: 1, reason: 'a bug' } as const;

/** Members of a class are replaced. */
const replaced =
  <T extends object>({ prototype }: { readonly prototype: T }, by: Partial<T> & ThisType<T>) =>
  () =>
    void Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(by));

/** One finding is mistaken for another. */
const mistaken = (finding: PlantFinding, other: PlantFinding) =>
  replaced(Batch, {
    end({ findings, error }) {
      const mistake = (it: PlantFinding) => (it === finding ? other : it);
      const all = typeof findings === 'string' ? this.plants.map(() => findings) : findings;
      return end.call(this, { findings: all.map(mistake), error });
    },
  });

/** Errors in the real classes, by the world that notices them. One that only costs inserts would change no outcome. */
export const bugs: Readonly<Record<string, Readonly<Record<string, () => void>>>> = {
  'one plant': {
    'a sent batch counts as unwritten': replaced(Batch, { isPossiblyWritten: false }),
    'an attempt is counted twice': replaced(Batch, {
      begin() {
        begin.call(this);
        begin.call(this);
      },
    }),
    'an unknown result counts as not written': mistaken('unknown', 'not now'),
    'an unknown result counts as stored': mistaken('unknown', 'stored'),
    'stored counts as taken': mistaken('stored', 'taken'),
    'an unusable database counts as a refused plant': mistaken('unusable', REFUSAL),
    'a batch always counts as possibly written': replaced(Batch, { isPossiblyWritten: true }),
    'a refusal counts although an earlier attempt may have written the plant': replaced(
      PendingPlant,
      { isPossiblyWritten: false },
    ),
    'a plant does not expire': replaced(PendingPlant, { giveUp() {} }),
    'a batch that was not sent is forgotten': replaced(InsertQueue, { pushFront() {} }),
  },
  'two plants with one id in a batch': {
    'taken counts as stored': mistaken('taken', 'stored'),
  },
  'different ids in a batch': {
    'plants get the outcomes of others': replaced(Batch, {
      end({ findings, error }) {
        const swapped = typeof findings === 'string' ? findings : findings.toReversed();
        return end.call(this, { findings: swapped, error });
      },
    }),
    'the outcome of one plant counts for all': replaced(Batch, {
      end(result) {
        const found = end.call(this, result);
        const [first] = found;
        if (first) for (const [plant] of found) endInsert.call(plant, first[1], result.error);
        return found;
      },
    }),
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
