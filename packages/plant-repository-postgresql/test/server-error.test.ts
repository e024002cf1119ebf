import type { Outcome } from '@plant-store/plant-repository-sql';
import { expect } from 'chai';
import { DatabaseError } from 'pg';
import { serverError } from '../src/server-error.js';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  '08006': 'unclear',
  '22021': 'refused',
  '23505': 'refused',
  '25006': 'not stored',
  '28P01': 'access denied',
  '40P01': 'not stored',
  '40003': 'unclear',
  '42501': 'access denied',
  '53300': 'not stored',
  '57014': 'not stored',
  '57P01': 'unclear',
  '57P03': 'not stored',
  P0001: 'refused',
  XX000: 'unclear',
};

function reported(code: string, constraint?: string): DatabaseError {
  return Object.assign(new DatabaseError('a message', 1, 'error'), { code, constraint });
}

describe('serverError', () => {
  for (const [code, outcome] of Object.entries(OUTCOMES)) {
    it(`classifies ${code} as ${outcome}`, () => {
      expect(serverError(reported(code))?.outcome).to.equal(outcome);
    });
  }

  it('distinguishes the primary key from other unique indexes', () => {
    expect(serverError(reported('23505', 'plants_pkey'))?.outcome).to.equal('id exists');
    expect(serverError(reported('23505', 'plants_name_idx'))?.outcome).to.equal('refused');
  });

  it('closes the connection to a server that has become read-only', () => {
    expect(serverError(reported('25006'))?.reconnect).to.equal(true);
    expect(serverError(reported('23505'))?.reconnect).to.equal(false);
  });
});
