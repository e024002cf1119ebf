import type { ContractCases } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** An adapter that breaks a sentence of its port. */
export interface Liar<Opened> {
  readonly open: () => Opened;
  /** What the failure of the case must name. */
  readonly naming?: string | undefined;
  /** Whether its case fails after seconds. These cases run at the same time, after all others. */
  readonly hangs?: true | undefined;
}

/** Liars by what they do, and by the title of the case that must fail for them. */
export type Liars<Opened> = Readonly<Record<string, Readonly<Record<string, Liar<Opened>>>>>;

/**
 * Declares the tests of a suite itself: every case passes for honest adapters, and fails for the liars that
 * it catches. Each case catches at least one.
 */
export function describeSuiteItself<Opened extends object>(
  title: string,
  cases: ContractCases<Opened>,
  honest: Readonly<Record<string, () => Opened>>,
  liars: Liars<Opened>,
): void {
  const lies = Object.entries(liars).flatMap(([name, all]) =>
    Object.entries(all).map(([lie, liar]) => {
      return { ...liar, name, what: `an adapter that ${lie}: ${name}` };
    }),
  );

  async function expectCaught({ name, what, open, naming = '' }: (typeof lies)[number]) {
    const { run } = cases[name] ?? expect.fail(`there is no case "${name}"`);
    const failure = await run(open()).then(() => undefined, String);
    expect(failure, what).to.include(naming);
  }

  describe(title, () => {
    for (const [what, open] of Object.entries(honest)) {
      for (const [name, { run }] of Object.entries(cases)) {
        it(`passes for an adapter that ${what}: ${name}`, () => run(open()));
      }
    }

    for (const lie of lies.filter(({ hangs }) => !hangs)) {
      it(`fails for ${lie.what}`, () => expectCaught(lie));
    }

    it('fails for each adapter that settles late or never', async function () {
      this.timeout(60_000);
      await Promise.all(lies.filter(({ hangs }) => hangs).map(expectCaught));
    });

    it('has a liar for each case', () => {
      expect(Object.keys(liars)).to.have.members(Object.keys(cases));
    });
  });
}
