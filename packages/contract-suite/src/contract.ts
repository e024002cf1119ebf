import { expect } from 'chai';
import { describe, it } from 'mocha';

/** The time limit of a case, long enough for a server that is slow to restart. */
const CASE_TIMEOUT_MS = 60_000;

/** One promise of a port, as a test. */
export interface ContractCase<Opened> {
  readonly title: string;
  /** The names of the hooks that the case calls. */
  readonly needs: readonly string[];
  /** Rejects when the adapter breaks the promise, or offers no hook of a name in `needs`. */
  readonly run: (opened: Opened) => Promise<void>;
}

/** Declares what a suite cannot test of an adapter. */
export interface SuiteOptions<Hook extends string> {
  /**
   * Why the adapter does not offer a hook: one reason for each hook, or a single one for all. The report
   * shows the reason. A case that needs a hook without a function and without a reason fails.
   */
  readonly without?: string | Readonly<Partial<Record<Hook, string>>>;
}

/**
 * Returns the function that declares one promise of a port: its title, the hooks that it needs, and its test.
 *
 * `Opened` is an adapter under test, and `Faults` the hooks that it may offer.
 */
export function contractFor<Opened extends object, Faults extends object>() {
  return <Hook extends keyof Faults & string>(
    title: string,
    needs: readonly Hook[],
    keeps: (opened: Opened & Pick<Faults, Hook>) => Promise<void>,
  ): ContractCase<Opened> => ({
    title,
    needs,
    async run(opened) {
      if (offers<Opened, Faults, Hook>(opened, needs)) await keeps(opened);
    },
  });
}

function offers<Opened extends object, Faults, Hook extends keyof Faults & string>(
  opened: Opened,
  needs: readonly Hook[],
): opened is Opened & Pick<Faults, Hook> {
  const missing = needs.find((hook) => Reflect.get(opened, hook) === undefined);
  if (missing === undefined) return true;
  return expect.fail(`there is no ${missing}(): offer it, or give a reason in \`without\``);
}

/** Returns the cases that apply to an adapter, and a case for each hook that it does not offer. */
export function testsOf<Opened extends object>(
  cases: readonly ContractCase<Opened>[],
  { without = {} }: SuiteOptions<string> = {},
): readonly ContractCase<Opened>[] {
  const hooks = [...new Set(cases.flatMap(({ needs }) => needs))];
  const reasons = new Map(
    hooks
      .map((hook) => [hook, typeof without === 'string' ? without : without[hook]] as const)
      .filter(([, reason]) => reason !== undefined),
  );
  const tested = cases.filter(({ needs }) => !needs.some((hook) => reasons.has(hook)));
  return [...[...reasons].map(([hook, reason]) => isNotTested(hook, reason)), ...tested];
}

function isNotTested(hook: string, reason: string | undefined): ContractCase<object> {
  return {
    title: `is not tested with ${hook}: ${reason}`,
    needs: [],
    async run(opened) {
      expect(reason, 'the reason').to.not.equal('');
      expect(Reflect.get(opened, hook), `${hook}, which is offered`).to.equal(undefined);
    },
  };
}

/**
 * Declares the Mocha suite of a port for one adapter.
 *
 * @param open Opens a new adapter for each case, and `close` closes it.
 */
export function describeContract<Opened extends object>(
  title: string,
  cases: readonly ContractCase<Opened>[],
  open: () => Promise<Opened>,
  close: (opened: Opened) => Promise<void>,
): void {
  describe(title, function () {
    this.timeout(CASE_TIMEOUT_MS);
    for (const { title: promise, run } of cases) {
      it(promise, async () => {
        const opened = await open();
        await run(opened).finally(() => close(opened));
      });
    }
  });
}
