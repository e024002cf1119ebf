import { describe, it } from 'mocha';
import type { ContractCases } from './contract.js';
import { fail } from './fail.js';

/** What is expected of the case that catches an adapter. */
export interface Expected {
  /** A part of the failure's message. */
  readonly failure?: string | undefined;
  /** The same, when the case fails after seconds. These cases run at the same time, after all others. */
  readonly lateFailure?: string | undefined;
}

/** Returns what an adapter does instead of a correct one. A further parameter with a default value is what it remembers. */
export type Difference<Correct> = (correct: Correct) => Partial<Correct> & Expected;

/** An adapter that keeps every promise, but differs from the correct one. */
export interface Variant<Correct> {
  readonly differs: Difference<Correct>;
  /** Where it differs: the hooks after which it does, or titles of cases. In all cases by default. */
  readonly after?: readonly string[];
}

/** A difference that breaks a promise of the port. */
export type Defect<Correct> = (
  correct: Correct,
) => Partial<Correct> & ({ readonly failure: string } | { readonly lateFailure: string });

/** Defects, by the title of the case that must fail for them, and in words. */
export type FaultyAdapters<Correct> = Readonly<
  Record<string, Readonly<Record<string, Defect<Correct>>>>
>;

/**
 * Tests a contract suite: every case must pass for each correct adapter, fail for the faulty adapters that are listed
 * for it, and catch at least one of them.
 *
 * @param port The name of the port, which begins the titles.
 * @param open Opens an adapter that differs from the correct one as described.
 */
export function describeSuiteItself<Opened extends object, Correct>(
  port: string,
  cases: ContractCases<Opened>,
  open: (difference: Difference<Correct>) => Opened & Expected,
  variants: Readonly<Record<string, Variant<Correct>>>,
  faultyAdapters: FaultyAdapters<Correct>,
): void {
  const defects = Object.entries(faultyAdapters).flatMap(([name, all]) =>
    Object.entries(all).map(([defect, difference]) => {
      return { name, who: `an adapter that ${defect}`, opened: open(difference) };
    }),
  );
  const correct: Variant<Correct> = { differs: () => ({}) };
  const adapters = { 'a correct adapter': correct, ...prefixed('an adapter that ', variants) };

  async function expectCaught({ name, who, opened }: (typeof defects)[number]) {
    const { run } = cases[name] ?? fail(`no case is named "${name}"`);
    const got = await run(opened).then(() => 'nothing: the case passes', String);
    const expected = opened.failure ?? opened.lateFailure;
    if (!expected || !got.includes(expected))
      fail(`${who}: ${name}\nexpected a failure with: ${expected}\ngot: ${got}`);
  }

  function declareCase(name: string) {
    for (const [who, { differs, after }] of Object.entries(adapters)) {
      const tested = cases[name];
      const shows = !after || [name, ...(tested?.needs ?? [])].some((it) => after.includes(it));
      if (tested && shows) it(`passes for ${who}`, () => tested.run(open(differs)));
    }
    for (const defect of defects.filter((it) => it.name === name)) {
      if (!defect.opened.lateFailure) it(`catches ${defect.who}`, () => expectCaught(defect));
    }
  }

  for (const name of Object.keys({ ...cases, ...faultyAdapters })) {
    describe(`${port}'s case "${name}"`, () => declareCase(name));
  }

  describe(`${port}'s cases`, () => {
    it('catch each adapter that settles late or never', async function () {
      this.timeout(60_000);
      await Promise.all(defects.filter(({ opened }) => opened.lateFailure).map(expectCaught));
    });

    it('each catch a deliberately faulty adapter', () => {
      const missing = Object.keys(cases).filter((name) => !Object.hasOwn(faultyAdapters, name));
      if (missing.length > 0) fail(`no faulty adapter for: ${missing.join(', ')}`);
    });
  });
}

function prefixed<T>(prefix: string, entries: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).map(([name, it]) => [prefix + name, it]));
}
