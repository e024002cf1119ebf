import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { fail } from './fail.js';

/** A test framework: the module `node:test`, the module `vitest`, or `mocha` of the entry `contract-suite/mocha`. */
export interface Runner {
  describe(title: string, declare: () => void): unknown;
  /**
   * @param options The time limit of the test, in milliseconds.
   * @param test Calls `skip` of its argument to report that the case is not tested.
   */
  it(
    title: string,
    options: { timeout: number },
    test: (context: { skip(): unknown }) => Promise<void>,
  ): unknown;
}

/** One promise of a port, and its test. */
export interface ContractCase<Opened> {
  /** The names of the hooks that the case calls. */
  readonly needs: readonly string[];
  /** Rejects if the adapter breaks the promise, or does not offer a hook of `needs`. */
  readonly run: (opened: Opened) => Promise<void>;
}

/** The promises of a port, by their sentences, which are the titles of the tests. */
export type ContractCases<Opened> = Readonly<Record<string, ContractCase<Opened>>>;

/** The options of a suite for one adapter. */
export interface SuiteOptions<Hook extends string> {
  /** Milliseconds that a case may take. 60,000 by default, enough for a server that is slow to restart. */
  readonly timeoutMs?: number;
  /** Why hooks are not offered, for the report: one reason for each, or for all. Without it, the cases of a hook fail. */
  readonly without?: string | Readonly<Partial<Record<Hook, string>>>;
}

/** An adapter under test, with a function for each fault that a test can cause. */
export interface Recoverable {
  /** Ends every fault. Called at the end of each case that has used a hook, so that no fault reaches the next case. */
  recover?(): Promise<void>;
}

/** Returns the function that declares a sentence of a port: the hooks of `Faults` that it needs, and its test. */
export function contractFor<Opened extends object & Recoverable, Faults extends object>() {
  return <Hook extends keyof Faults & string>(
    needs: readonly Hook[],
    test: (opened: Opened & Pick<Faults, Hook>) => Promise<void>,
  ): ContractCase<Opened> => ({
    needs,
    async run(opened) {
      const missing = needs.find((hook) => Reflect.get(opened, hook) === undefined);
      if (missing) fail(`${missing}() is missing: offer it, or give a reason in \`without\``);
      await finished(test(opened as Opened & Pick<Faults, Hook>), async () => {
        if (needs.length > 0) await opened.recover?.();
      });
    },
  });
}

/** Settles like `test`, after `end` has run. If both fail, the test's error counts. */
async function finished(test: Promise<void>, end: () => Promise<void>): Promise<void> {
  const [tested] = await Promise.allSettled([test]);
  const [ended] = await Promise.allSettled([end()]);
  for (const result of [tested, ended]) if (result.status === 'rejected') throw result.reason;
}

/** Returns the cases that apply to an adapter, and a case for each hook that it does not offer. */
function testsOf<Opened extends object>(
  cases: ContractCases<Opened>,
  { without = {} }: SuiteOptions<string> = {},
): { readonly missing: ContractCases<Opened>; readonly tested: ContractCases<Opened> } {
  const all = Object.entries(cases);
  const reasonOf = (hook: string) => (typeof without === 'string' ? without : without[hook]);
  const hooks = new Set(all.flatMap(([, { needs }]) => needs));
  const missing = [...hooks].flatMap((hook) => isNotTested(hook, reasonOf(hook)));
  const tested = all.filter(([, { needs }]) => needs.every((it) => reasonOf(it) === undefined));
  return { missing: Object.fromEntries(missing), tested: Object.fromEntries(tested) };
}

function isNotTested(hook: string, reason?: string): [title: string, ContractCase<object>][] {
  if (reason === undefined) return [];
  const run = async (opened: object) => {
    if (reason === '') fail(`${hook}() is missing, and its reason is empty`);
    if (Reflect.get(opened, hook) === undefined) return;
    fail(`${hook}() is offered: remove its reason from \`without\``);
  };
  return [[`is not tested with ${hook}: ${reason}`, { needs: [], run }]];
}

/**
 * Returns the function that declares the suite of a port for one adapter. It takes the test framework, the name of the
 * adapter for the report, a function that opens a new adapter for each case, which `close` ends, and the options.
 */
export function suiteOf<Opened extends object, Hook extends string>(
  port: string,
  cases: ContractCases<Opened>,
  close: (opened: Opened) => Promise<void>,
) {
  return (
    { describe, it }: Runner,
    adapter: string,
    open: () => Promise<Opened>,
    options: SuiteOptions<Hook> = {},
  ): void => {
    const timeout = options.timeoutMs ?? 60_000;
    describe(`${adapter} as a ${port}`, () => {
      const { missing, tested } = testsOf(cases, options);
      for (const [title, { run }] of Object.entries({ ...missing, ...tested })) {
        it(title, { timeout }, async (context) => {
          await withoutUnhandled(async () => {
            const opened = await open();
            await finished(run(opened), () => close(opened));
          });
          if (Object.hasOwn(missing, title)) context.skip();
        });
      }
    });
  };
}

/** Rejects if `run` leaves a rejected promise unhandled. That would end a service, but Mocha 12 ignores it. */
async function withoutUnhandled(run: () => Promise<void>): Promise<void> {
  const left: string[] = [];
  const note = (reason: unknown) => left.push(inspect(reason));
  process.on('unhandledRejection', note);
  // Node.js reports a rejection at the end of its turn.
  await finished(run(), () => setImmediate()).finally(() =>
    process.off('unhandledRejection', note),
  );
  if (left.length > 0) fail(`the adapter left a rejected promise unhandled: ${left[0]}`);
}
