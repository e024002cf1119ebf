import type { Finding } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { DatabaseError } from 'pg';
import { explained, PostgresqlStoreError } from '../src/postgresql-error.js';

const NEVER = [
  'query_wait_timeout',
  'server login has been failing, try again later (server_login_retry)',
];
const PERHAPS = ['server conn crashed?', 'query timeout', 'insufficient data left in message'];

/** Codes, and a function of the server, by what they mean. */
const FINDINGS: Readonly<Partial<Record<Finding, string>>> = {
  'plant refused': `21000, 54000 index_form_tuple, 22021, 23505, 38000, P0001, 42501 ExecWithCheckOptions,
    ZZ001 exec_stmt_raise trigger, 42501 exec_stmt_raise trigger, 58000 exec_stmt_raise trigger`,
  'credentials refused': '28P01',
  unusable: `3D000, 42501, 55000, 54000 GetNewTransactionId, 54000 GetNewMultiXactId,
    42501 aclcheck_error trigger, 42703 exec_eval_datum trigger, 42P01 parserOpenTable trigger`,
  'not now': `25006, 26000, 40P01, 42703, 42P01, 42P05, 53300, 55P03, 57014, 57P05, 57P03,
    40001 exec_stmt_raise trigger`,
  unknown: '08006, 40003, 57P01, XX000, ZZ001',
};

const withoutPlant = (error: unknown) => explained(error, true);

const findingOf = (error: unknown) => (error as PostgresqlStoreError).meaning.finding;

function databaseError(code: string | undefined, message = '', routine = '', where?: string) {
  const context = where === undefined ? {} : { where };
  return Object.assign(new DatabaseError(message, 1, 'error'), { code, routine, ...context });
}

describe('A PostgreSQL error', () => {
  for (const [finding, errors] of Object.entries(FINDINGS)) {
    for (const error of errors.split(/,\s+/)) {
      it(`is "${finding}" without the server's text: ${error}`, () => {
        const [code, routine, where] = error.split(' ');
        const known = withoutPlant(databaseError(code, 'Monstera', routine, where));
        expect(known).to.be.instanceOf(PostgresqlStoreError).and.include({ code });
        expect(findingOf(known)).to.equal(finding);
        expect(`${known}`).to.include(code).and.not.include('Monstera');
      });
    }
  }

  for (const message of [...NEVER, ...PERHAPS]) {
    const finding = NEVER.includes(message) ? 'not now' : 'unknown';
    it(`is "${finding}" for PgBouncer's "${message}"`, () => {
      expect(findingOf(withoutPlant(databaseError('08P01', message)))).to.equal(finding);
    });
  }

  it('says that the disk is full', () => {
    const { message } = withoutPlant(databaseError('53100')) as Error;
    expect(message).to.equal('the disk of the database is full (53100)');
  });

  it('names a trigger that lacks a permission instead of the table', () => {
    const ofTable = withoutPlant(databaseError('42501', '', 'aclcheck_error'));
    const ofTrigger = withoutPlant(databaseError('42501', '', 'aclcheck_error', 'in a function'));
    expect(`${ofTable}`).to.include('plant-store check names it');
    expect(`${ofTrigger}`).to.include('a trigger of the table plants fails (42501)');
  });

  it('ends its connection if a new one may lead to another server', () => {
    const ends = (code: string) => withoutPlant(databaseError(code)) as PostgresqlStoreError;
    const [yes, no] = [
      ['25006', '57P01', '57P03', '08P01', 'XX000'],
      ['23505', '57014', '42501'],
    ];
    for (const code of yes) expect(ends(code).meaning).to.include({ reconnects: true });
    for (const code of no) expect(ends(code).meaning).to.not.have.property('reconnects');
  });

  it('is not made from a network error', () => {
    const cause = new Error('read ECONNRESET');
    expect(withoutPlant(cause)).to.equal(cause);
  });
});
