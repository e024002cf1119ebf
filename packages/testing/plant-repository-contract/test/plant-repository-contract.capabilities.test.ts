import type { Runner } from '@plant-store/contract-suite';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { openStore } from './support/correct-store.js';

/** Hooks for promises of the port about every store that keeps its plants outside its process. */
const OWED = {
  outage: 'reports in time that the database cannot be reached, and recovers',
  loseNextAcknowledgement: 'reports a true outcome after a lost acknowledgement',
  crash: 'keeps every plant reported as stored or taken when the database is killed',
};

/** Declares the suite for a store without a hook, which lacks every capability but one. Resolves with the failure of a case. */
async function failureWithout(hook: string, title: string): Promise<string> {
  let tested: (() => Promise<void>) | undefined;
  const runner: Runner = {
    describe: (_, declare) => declare(),
    it(name, _, test) {
      if (name === title) tested = () => test({ skip: () => undefined });
    },
  };
  const open = async () => ({ ...openStore(() => ({})), [hook]: undefined });
  const without = ['connections', 'transactions', 'setting for durability'] as const;
  describePlantRepository(runner, 'a store', open, { without });
  return (tested?.() ?? Promise.reject(new Error(`left out: ${title}`))).then(
    () => 'none',
    ({ message }) => message,
  );
}

describe('A store on a disk or a server', () => {
  for (const [hook, title] of Object.entries(OWED)) {
    it(`cannot leave out the case that needs ${hook}`, async () => {
      const failure = `${hook}() is missing, and \`without\` names no capability that needs it`;
      expect(await failureWithout(hook, title)).to.equal(failure);
    });
  }
});
