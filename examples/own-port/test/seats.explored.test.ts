import assert from 'node:assert/strict';
import { explore } from '@plant-store/explorer';
import { HttpSeats } from '../src/http-seats.js';
import { ForgetfulSeats } from './forgetful-seats.js';
import { SeatsModel } from './seats-model.js';

describe('In every order of two reservations with at most three deviations,', () => {
  it('HttpSeats always reports who has the seat', async () => {
    const open = () => new SeatsModel((exchange) => new HttpSeats('', exchange));
    const { counterexample } = await explore(open, 3);
    assert.equal(counterexample, undefined, counterexample);
  });

  it('ForgetfulSeats is wrong after one lost response', async () => {
    const open = () => new SeatsModel((exchange) => new ForgetfulSeats('', exchange));
    const { counterexample } = await explore(open, 3);
    const story =
      /^reserve is false for Ada, but A1 is Ada's.*\n[^!]*! the response to Ada is lost\n[^!]*$/;
    assert.match(`${counterexample}`, story);
  });
});
