import { expect } from 'chai';
import { DatabaseError } from 'pg';
import { endsConnection, explain, StorageError, withoutPlant } from '../src/server-error.js';

const MEANINGS: Readonly<Record<string, readonly [outcome: string, finding: string]>> = {
  '08006': ['unclear', 'not now'],
  '22021': ['refused', 'denied'],
  '23505': ['refused', 'denied'],
  '25006': ['not written', 'not now'],
  '26000': ['not written', 'not now'],
  '28P01': ['denied', 'credentials'],
  '3D000': ['denied', 'denied'],
  '40P01': ['not written', 'not now'],
  '40003': ['unclear', 'not now'],
  '42501': ['denied', 'denied'],
  '42P05': ['not written', 'not now'],
  '53300': ['not written', 'not now'],
  '55000': ['denied', 'denied'],
  '55P03': ['not written', 'not now'],
  '57014': ['not written', 'not now'],
  '57P01': ['unclear', 'not now'],
  '57P03': ['not written', 'not now'],
  P0001: ['refused', 'denied'],
  XX000: ['unclear', 'not now'],
};

function reported(code: string, message = 'Monstera', routine = ''): StorageError {
  const error = Object.assign(new DatabaseError(message, 1, 'error'), { code, routine });
  const known = withoutPlant(error);
  if (known instanceof StorageError) return known;
  throw new Error('it is no error of the storage');
}

describe('An error of PostgreSQL', () => {
  for (const [code, [outcome, finding]] of Object.entries(MEANINGS)) {
    it(`with the code ${code} means that an insert is ${outcome}`, () => {
      const error = reported(code);
      expect(error).to.include({ code, outcome, finding });
      expect(error.message).to.include(code).and.not.include('Monstera');
      expect(explain(error)).to.deep.equal({ finding, cause: error });
    });
  }

  it('about row-level security refuses a plant', () => {
    expect(reported('42501', '', 'ExecWithCheckOptions').outcome).to.equal('refused');
  });

  for (const [message, outcome] of [
    ['query_wait_timeout', 'not written'],
    ['server login has been failing, try again later (server_login_retry)', 'not written'],
    ['server login has been failing, cached error: connect timeout', 'not written'],
    ['server conn crashed?', 'unclear'],
    ['query timeout', 'unclear'],
    ['insufficient data left in message', 'unclear'],
  ] as const) {
    it(`from PgBouncer means ${outcome}: ${message}`, () => {
      expect(reported('08P01', message).outcome).to.equal(outcome);
    });
  }

  it('ends a connection that may lead to another server now', () => {
    const ends = (code: string) =>
      endsConnection(Object.assign(new DatabaseError('', 1, 'error'), { code }));
    expect(['25006', '57P01', '08P01'].map(ends)).to.deep.equal([true, true, true]);
    expect(['23505', '57014'].map(ends)).to.deep.equal([false, false]);
  });

  it('is told from one of the network', () => {
    const cause = new Error('read ECONNRESET');
    expect(withoutPlant(cause)).to.equal(cause);
    expect(explain(cause)).to.deep.equal({ finding: 'no server', cause });
  });
});
