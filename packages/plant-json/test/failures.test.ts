import { failuresOfCreate } from '@plant-store/plant-json';
import { expect } from 'chai';

describe('The failures of a create', () => {
  it('have fixed numbers, and messages that name what contains the plant', () => {
    expect(failuresOfCreate('the line')).to.deep.equal({
      TOO_LARGE: { error: 4003, message: 'the line is larger than the limit' },
      INVALID_JSON: { error: 4004, message: 'the line is not valid JSON' },
      INVALID_NEW_PLANT: { error: 4005, message: 'the line is not a NewPlant' },
      PLANT_ID_TAKEN: { error: 4006, message: 'id is taken: a plant with this id exists' },
      INTERNAL: { error: 5000, message: 'internal error' },
      STORAGE_UNAVAILABLE: {
        error: 5030,
        message: 'the storage cannot be reached: nothing was stored',
      },
      OUTCOME_UNKNOWN: {
        error: 5031,
        message: 'the outcome is unknown: the plant may or may not have been stored',
      },
    });
  });
});
