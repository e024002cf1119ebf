import type { OutcomeUnknownError } from '@plant-store/domain';
import { expect } from 'chai';
import { PendingPlant, sizeOf } from '../src/pending-plant.js';
import { plant } from './support/storage-with.js';

const MARK = 'its own mark';
const lost = new Error('connection lost');
const late = new Error('no server');

type Act = (pending: PendingPlant) => void;

const sent: Act = (it) => it.sent();
const notWritten: Act = (it) => it.ended('not written', lost);
const unclear: Act = (it) => it.ended('unclear', lost);
const stored: Act = (it) => it.ended('stored');
const foundItself: Act = (it) => it.found(MARK);
const foundAnother: Act = (it) => it.found('another mark');
const foundForeign: Act = (it) => it.found(undefined);
const refused: Act = (it) => it.ended({ code: 121, reason: 'a rule' }, lost);
const giveUp: Act = (it) => it.giveUp(it.cause ?? late);

const taken = ['PLANT_ID_TAKEN', 'a plant with this id was stored before', undefined];
const unknown = (cause: Error) => ['OUTCOME_UNKNOWN', 'the outcome was not known in time', cause];
const unavailable = (cause: Error) => ['STORAGE_UNAVAILABLE', 'the plant was not stored', cause];
const REFUSED = 'the database refuses a plant that the service accepts (121)';
const refusal = [undefined, REFUSED, undefined];

const cases: readonly (readonly [what: string, acts: readonly Act[], outcome: unknown])[] = [
  ['an insert has stored it', [sent, stored], 'stored'],
  ['it is found with its own mark', [sent, notWritten, foundItself], 'stored'],
  [
    'it is found with its own mark after a refusal',
    [sent, unclear, sent, refused, foundItself],
    'stored',
  ],
  ['a late reply reports it', [sent, sent, notWritten, stored], 'stored'],
  ['it is found with another mark', [sent, notWritten, foundAnother], taken],
  ['another program has stored its id', [sent, notWritten, foundForeign], taken],
  ['no insert of it was sent in time', [giveUp], unavailable(late)],
  ['no insert has written it', [sent, notWritten, sent, notWritten, giveUp], unavailable(lost)],
  ['an insert is open', [sent, giveUp], unknown(late)],
  ['an insert is unclear', [sent, unclear, giveUp], unknown(lost)],
  ['one of two inserts is open', [sent, sent, notWritten, giveUp], unknown(lost)],
  [
    'one was unclear, and a later one has not written it',
    [sent, unclear, sent, notWritten, giveUp],
    unknown(lost),
  ],
  ['the storage refuses it', [sent, notWritten, sent, refused], refusal],
  ['it is refused while another insert is open', [sent, sent, refused, giveUp], unknown(lost)],
  ['it was stored before its time limit passed', [sent, stored, giveUp], 'stored'],
  ['its time limit passed before the reply', [sent, giveUp, stored], unknown(late)],
];

describe('A pending plant', () => {
  for (const [what, acts, expected] of cases) {
    it(`has its outcome when ${what}`, () => {
      const outcomes: unknown[] = [];
      const call = { addedAt: 0, deadline: 1_000, caller: undefined };
      const pending = new PendingPlant({ plant: plant(1n), mark: MARK }, call, (error) => {
        const { code, message, cause } = (error ?? {}) as OutcomeUnknownError;
        outcomes.push(error ? [code, message, cause] : 'stored');
      });
      for (const act of acts) act(pending);
      expect(outcomes).to.deep.equal([expected]);
    });
  }

  it('has a size of at least the bytes of its name and its tag', () => {
    expect(sizeOf({ ...plant(1n, 'ü'.repeat(1_000)), tag: '木' })).to.be.within(2_003, 2_203);
  });
});
