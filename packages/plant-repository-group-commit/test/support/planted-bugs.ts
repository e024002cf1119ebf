import { Attempt, Attempts } from '../../src/attempts.js';
import { InsertQueue } from '../../src/insert-queue.js';
import { PendingPlant } from '../../src/pending-plant.js';

const prototypes = [PendingPlant, Attempt, Attempts, InsertQueue].map((it) => it.prototype);
const { endInsert, found, beginInsert } = PendingPlant.prototype;
const { take } = Attempt.prototype;
const { start } = Attempts.prototype;
const REFUSAL = { code: 1, reason: 'a bug' };

type Outcome = Parameters<PendingPlant['endInsert']>[0];

/** Plants get another outcome of their inserts. */
function replaceOutcome(replaced: (outcome: Outcome) => Outcome): void {
  PendingPlant.prototype.endInsert = function (outcome, cause) {
    endInsert.call(this, replaced(outcome), cause);
  };
}

function replaceUnclear(isUnclear: boolean): void {
  Object.defineProperty(PendingPlant.prototype, 'isUnclear', { get: () => isUnclear });
}

/** Other plants are taken than should be. */
function replaceTaken(replaced: (attempt: Attempt) => readonly PendingPlant[]): void {
  Attempt.prototype.take = function () {
    return replaced(this);
  };
}

let marks = 0;

/**
 * Errors in the real classes, by the world that notices them. What only costs inserts is not among them, such as a plant
 * that is queued twice: it changes no outcome.
 */
export const bugs: Readonly<Record<string, Readonly<Record<string, () => void>>>> = {
  'one plant': {
    'an insert that was sent is not counted': () => {
      PendingPlant.prototype.beginInsert = () => undefined;
    },
    'an insert is counted twice': () => {
      PendingPlant.prototype.beginInsert = function () {
        beginInsert.call(this);
        beginInsert.call(this);
      };
    },
    'an unclear insert is taken for one that wrote nothing': () =>
      replaceOutcome((it) => (it === 'unclear' ? 'not written' : it)),
    'an unclear insert is taken for stored': () =>
      replaceOutcome((it) => (it === 'unclear' ? 'stored' : it)),
    'an id that exists is taken, without a look-up': () =>
      replaceOutcome((it) => (it === 'id exists' ? { committedMark: undefined } : it)),
    'an insert that is not permitted is a refusal': () =>
      replaceOutcome((it) => (it === 'not permitted' ? REFUSAL : it)),
    'a plant that may be written is unavailable': () => replaceUnclear(false),
    'a plant that was not written is unknown': () => replaceUnclear(true),
    'its own mark means taken': () => {
      PendingPlant.prototype.found = function () {
        found.call(this, undefined);
      };
    },
    'its mark is another one each time': () =>
      replaceTaken((attempt) => {
        marks += 1;
        return take.call(attempt).map((it) => Object.assign(it, { mark: `another ${marks}` }));
      }),
    'a plant does not expire': () => {
      PendingPlant.prototype.giveUp = () => undefined;
    },
    'a plant without an outcome is not inserted again': () => {
      InsertQueue.prototype.pushFront = () => undefined;
    },
  },
  'twins in a batch': {
    'another mark means stored': () => {
      PendingPlant.prototype.found = function () {
        found.call(this, this.mark);
      };
    },
  },
  'different ids in a batch': {
    'the refusal of one is a refusal of all': () =>
      replaceOutcome((it) => (it === 'refused with others' ? REFUSAL : it)),
    'the outcomes are those of other plants': () =>
      replaceTaken((attempt) => take.call(attempt).toReversed()),
  },
  'another program, and a short time limit': {
    'an insert that wrote nothing stays unclear': () =>
      replaceOutcome((it) => (it === 'not written' ? 'unclear' : it)),
    'an insert has plants that have expired': () =>
      replaceTaken((attempt) => {
        for (const plant of attempt.plants) if (plant.isSettled) plant.beginInsert();
        take.call(attempt);
        attempt.taken = attempt.plants;
        return attempt.plants;
      }),
    'its plant is overlooked': () => {
      PendingPlant.prototype.found = function (mark) {
        if (mark !== undefined) found.call(this, mark);
      };
    },
  },
  'one slot for each kind of insert': {
    'an attempt releases its slot at once': () => {
      Attempts.prototype.start = function (attempt) {
        start.call(this, attempt);
        attempt.releaseSlot();
      };
    },
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
