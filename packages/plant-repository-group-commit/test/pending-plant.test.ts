import { expect } from 'chai';
import { PendingPlant, sizeOf } from '../src/pending-plant.js';
import { plant } from './support/storage-with.js';

const lost = new Error('connection lost');
const late = new Error('no server');

/** What `group-commit.explored.test.ts` does not see: the errors. */
const errors: readonly (readonly [act: (it: PendingPlant) => void, error: object])[] = [
  [
    (it) => it.found('another mark'),
    { code: 'PLANT_ID_TAKEN', message: 'a plant with this id was stored before' },
  ],
  [
    (it) => it.giveUp('the plant was not stored', late),
    { code: 'STORAGE_UNAVAILABLE', message: 'the plant was not stored', cause: late },
  ],
  [
    (it) => {
      it.beginInsert();
      it.endInsert('unclear', lost);
      it.giveUp('the plant was not stored', it.cause);
    },
    { code: 'OUTCOME_UNKNOWN', message: 'the outcome was not known in time', cause: lost },
  ],
  [
    (it) => {
      it.beginInsert();
      it.endInsert({ code: 121, reason: 'a rule' }, lost);
    },
    { message: 'the database refuses a plant that the service accepts (121)' },
  ],
];

describe('A pending plant', () => {
  for (const [act, expected] of errors) {
    it(`has an error with its reason: ${JSON.stringify(expected)}`, () => {
      let error: unknown;
      const settled = (it?: Error) => {
        error = it;
      };
      const call = { size: 100, addedAt: 0, deadline: 1_000, caller: undefined, settled };
      act(new PendingPlant(plant(1n), 'its mark', call));
      expect(error).to.include(expected);
    });
  }

  it('has a size of at least the bytes of its name and its tag', () => {
    expect(sizeOf({ ...plant(1n, 'ü'.repeat(1_000)), tag: '木' })).to.be.within(2_003, 2_203);
  });
});
