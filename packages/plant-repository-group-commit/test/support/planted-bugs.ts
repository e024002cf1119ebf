import { Attempt, Attempts } from '../../src/attempts.js';
import type { PlantFinding } from '../../src/finding.js';
import { InsertQueue } from '../../src/insert-queue.js';
import { PendingPlant } from '../../src/pending-plant.js';

const prototypes = [PendingPlant, Attempt, Attempts, InsertQueue].map((it) => it.prototype);
const { endInsert, idExists, beginInsert } = PendingPlant.prototype;
const { take } = Attempt.prototype;
const { start } = Attempts.prototype;
const REFUSAL = { finding: 'plant refused', code: 1, reason: 'a bug' } as const;
const TAKEN = { finding: 'id exists', committedMark: undefined } as const;

/** Members of a class are replaced. */
const replaced =
  <T extends object>({ prototype }: { readonly prototype: T }, by: Partial<T> & ThisType<T>) =>
  () =>
    void Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(by));

/** One finding is mistaken for another. */
const mistaken = (finding: PlantFinding, other: PlantFinding) =>
  replaced(PendingPlant, {
    endInsert(actual, cause, together) {
      return endInsert.call(this, actual === finding ? other : actual, cause, together);
    },
  });

let marks = 0;

/** Errors in the real classes, by the world that notices them. One that only costs inserts would change no outcome. */
export const bugs: Readonly<Record<string, Readonly<Record<string, () => void>>>> = {
  'one plant': {
    'a sent insert is not counted': replaced(PendingPlant, { beginInsert() {} }),
    'an insert is counted twice': replaced(PendingPlant, {
      beginInsert() {
        beginInsert.call(this);
        beginInsert.call(this);
      },
    }),
    'an unknown insert means not written': mistaken('unknown', 'not now'),
    'an unknown insert means stored': mistaken('unknown', 'stored'),
    'an id that exists is taken': mistaken('id may exist', TAKEN),
    'an unusable database means a refused plant': mistaken('unusable', REFUSAL),
    'a plant that may be written is unavailable': replaced(PendingPlant, {
      isPossiblyWritten: false,
    }),
    'a plant that was not written is unknown': replaced(PendingPlant, { isPossiblyWritten: true }),
    'its own mark means taken': replaced(PendingPlant, {
      idExists() {
        idExists.call(this, undefined);
      },
    }),
    'its mark changes each time': replaced(Attempt, {
      take() {
        marks += 1;
        return take.call(this).map((it) => Object.assign(it, { mark: `another ${marks}` }));
      },
    }),
    'a plant does not expire': replaced(PendingPlant, { giveUp() {} }),
    'a plant without an outcome is not inserted again': replaced(InsertQueue, { pushFront() {} }),
  },
  'twins in a batch': {
    'another mark means stored': replaced(PendingPlant, {
      idExists() {
        idExists.call(this, this.mark);
      },
    }),
  },
  'different ids in a batch': {
    'the refusal of one is a refusal of all': mistaken('batch refused', REFUSAL),
    'plants get the outcomes of others': replaced(Attempt, {
      take() {
        return take.call(this).toReversed();
      },
    }),
  },
  'another program, and a short time limit': {
    'not written means unknown': mistaken('not now', 'unknown'),
    'an insert has expired plants': replaced(Attempt, {
      take() {
        for (const plant of this.plants) if (plant.isSettled) plant.beginInsert();
        take.call(this);
        this.sent = this.plants;
        return this.plants;
      },
    }),
    'its plant is overlooked': replaced(PendingPlant, {
      idExists(mark) {
        if (mark !== undefined) idExists.call(this, mark);
      },
    }),
  },
  'one slot for each kind of insert': {
    'an attempt releases its slot at once': replaced(Attempts, {
      start(attempt, sent) {
        start.call(this, attempt, sent);
        attempt.releaseSlot();
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
