import { type ContractCases, fail } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** What is expected of an adapter that breaks a sentence of its port. */
export interface Expected {
  /** A part of the failure of the case. */
  readonly failure?: string | undefined;
  /** Whether the case fails after seconds. These cases run at the same time, after all others. */
  readonly hangs?: true | undefined;
}

/** What adapters do that break a sentence, by the title of the case that must fail for them, and in words. */
export type Liars<Lie> = Readonly<Record<string, Readonly<Record<string, Lie>>>>;

/**
 * Declares the tests of a suite itself: every case passes for honest adapters, and fails for the liars that
 * it catches, as they expect. Each case catches at least one.
 *
 * @param open Opens an adapter that does what a lie, or an honest adapter, does.
 */
export function describeSuiteItself<Opened extends object, Honest, Lie extends Honest>(
  title: string,
  cases: ContractCases<Opened>,
  open: (difference: Honest) => Opened & Expected,
  honest: Readonly<Record<string, Honest>>,
  liars: Liars<Lie>,
): void {
  const lies = Object.entries(liars).flatMap(([name, all]) =>
    Object.entries(all).map(([lie, difference]) => {
      return { name, what: `an adapter that ${lie}: ${name}`, opened: open(difference) };
    }),
  );

  async function expectCaught({ name, what, opened }: (typeof lies)[number]) {
    const { run } = cases[name] ?? fail(`there is no case "${name}"`);
    const failure = await run(opened).then(() => 'nothing: the case passes', String);
    if (!opened.failure || !failure.includes(opened.failure))
      fail(`${what}\nexpected a failure with: ${opened.failure}\ngot: ${failure}`);
  }

  describe(title, () => {
    for (const [what, difference] of Object.entries(honest)) {
      for (const [name, { run }] of Object.entries(cases)) {
        it(`passes for an adapter that ${what}: ${name}`, () => run(open(difference)));
      }
    }

    for (const lie of lies.filter(({ opened }) => !opened.hangs)) {
      it(`fails for ${lie.what}`, () => expectCaught(lie));
    }

    it('fails for each adapter that settles late or never', async function () {
      this.timeout(60_000);
      await Promise.all(lies.filter(({ opened }) => opened.hangs).map(expectCaught));
    });

    it('has a liar for each case', () => {
      expect(Object.keys(liars)).to.have.members(Object.keys(cases));
    });
  });
}
