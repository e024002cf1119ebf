import type { ContractCase } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';

/** An adapter that breaks a sentence of its port. */
export interface Liar<Opened> {
  /** The titles of the cases that must fail. */
  readonly caughtBy: string | readonly string[];
  readonly open: () => Opened;
  /** What the failure of the case must name. */
  readonly naming?: string | undefined;
  /** Whether it settles late or never. A case waits for seconds, so these waits begin together. */
  readonly hangs?: true | undefined;
}

/**
 * Declares the tests of a suite itself: every case passes for honest adapters, and fails for the liars that
 * it catches. Each case catches at least one.
 */
export function describeSuiteItself<Opened extends object>(
  title: string,
  cases: readonly ContractCase<Opened>[],
  honest: Readonly<Record<string, () => Opened>>,
  liars: Readonly<Record<string, Liar<Opened>>>,
): void {
  const caseOf = (name: string) =>
    cases.find((it) => it.title === name) ?? expect.fail(`there is no case "${name}"`);
  const failureOf = (name: string, opened: Opened): Promise<string | undefined> =>
    caseOf(name)
      .run(opened)
      .then(() => undefined, String);

  describe(title, () => {
    for (const [what, open] of Object.entries(honest)) {
      for (const { title: name, run } of cases) {
        it(`passes for an adapter that ${what}: ${name}`, () => run(open()));
      }
    }

    for (const [lie, { caughtBy, open, naming = '', hangs }] of Object.entries(liars)) {
      for (const name of [caughtBy].flat()) {
        let failure: Promise<string | undefined> | undefined;
        if (hangs) {
          before(() => {
            failure = failureOf(name, open());
          });
        }
        it(`fails for an adapter that ${lie}: ${name}`, async () => {
          expect(await (failure ?? failureOf(name, open()))).to.include(naming);
        });
      }
    }

    it('has a liar for each case', () => {
      const caught = Object.values(liars).flatMap(({ caughtBy }) => caughtBy);
      const titles = cases.map((it) => it.title);
      expect(titles.filter((it) => !caught.includes(it))).to.deep.equal([]);
    });
  });
}
