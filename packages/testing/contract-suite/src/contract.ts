import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { fail } from './fail.js';

/** A test framework: the module `node:test`, the module `vitest`, or `mocha` of the entry `contract-suite/mocha`. */
export interface Runner {
  describe(title: string, declare: () => void): unknown;
  /**
   * @param options The time limit of the test, in milliseconds.
   * @param test Calls `skip` of its argument to report that the case was not tested.
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

/** The promises of a port, by the titles of their tests. */
export type ContractCases<Opened> = Readonly<Record<string, ContractCase<Opened>>>;

/** The capabilities that an adapter may lack, such as `connections`, each with the hooks that it then leaves out. */
export type Capabilities<Part extends string> = Readonly<Record<Part, readonly string[]>>;

/** The options of a suite for one adapter. */
export interface SuiteOptions<Part extends string> {
  /** Milliseconds that a case may take. 60,000 by default, enough for a server that is slow to restart. */
  readonly timeoutMs?: number;
  /** The capabilities that the adapter lacks. A case fails if the hook that it needs is missing for another reason. */
  readonly without?: readonly Part[];
}

/** An adapter under test, with a function for each fault that a test can inject. */
export interface Recoverable {
  /** Ends every fault. Called at the end of each case that has used a hook, so that no fault reaches the next case. */
  recover?(): Promise<void>;
}

/** Returns the function that declares a promise of a port: the hooks of `Faults` that it needs, and its test. */
export function contractFor<Opened extends object & Recoverable, Faults extends object>() {
  return <Hook extends keyof Faults & string>(
    needs: readonly Hook[],
    test: (opened: Opened & Pick<Faults, Hook>) => Promise<void>,
  ): ContractCase<Opened> => ({
    needs,
    async run(opened) {
      const missing = needs.find((hook) => Reflect.get(opened, hook) === undefined);
      if (missing)
        fail(`${missing}() is missing, and \`without\` names no capability that needs it`);
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

/** Returns the names of the hooks that cases need. */
export function hooksOf(cases: ContractCases<never>): readonly string[] {
  return [...new Set(Object.values(cases).flatMap(({ needs }) => needs))];
}

/** Returns the cases that apply to an adapter, and a case for each hook that it does not offer. */
function testsOf<Opened extends object, Part extends string>(
  cases: ContractCases<Opened>,
  capabilities: Capabilities<Part>,
  without: readonly Part[],
): { readonly missing: ContractCases<Opened>; readonly tested: ContractCases<Opened> } {
  const missingFor = (hook: string) =>
    without.find((part) => hooksNeeding(capabilities, part).includes(hook));
  const missing = hooksOf(cases).flatMap((hook) => isNotTested(hook, missingFor(hook)));
  const tested = Object.entries(cases).filter(([, { needs }]) => !needs.some(missingFor));
  return { missing: Object.fromEntries(missing), tested: Object.fromEntries(tested) };
}

function hooksNeeding<Part extends string>(
  capabilities: Capabilities<Part>,
  part: Part,
): readonly string[] {
  if (Object.hasOwn(capabilities, part)) return capabilities[part];
  return fail(`without: "${part}" is not one of: ${Object.keys(capabilities).join(', ')}`);
}

function isNotTested(hook: string, part?: string): [title: string, ContractCase<object>][] {
  if (part === undefined) return [];
  const run = async (opened: object) => {
    if (Reflect.get(opened, hook) === undefined) return;
    fail(`${hook}() is offered: remove "${part}" from \`without\``);
  };
  return [[`is not tested with ${hook}: it has no ${part}`, { needs: [], run }]];
}

/**
 * Returns the function that declares the suite of a port for one adapter. It takes the test framework, the name of the
 * adapter for the report, a function that opens a new adapter for each case, which `close` ends, and the options.
 *
 * @param capabilities What an adapter may lack, and the hooks that it then leaves out. Any other hook must be there.
 */
export function suiteOf<Opened extends object, Part extends string>(
  port: string,
  cases: ContractCases<Opened>,
  close: (opened: Opened) => Promise<void>,
  capabilities: Capabilities<Part>,
) {
  return (
    { describe, it }: Runner,
    adapter: string,
    open: () => Promise<Opened>,
    { timeoutMs: timeout = 60_000, without = [] }: SuiteOptions<Part> = {},
  ): void => {
    describe(`${adapter} as a ${port}`, () => {
      const { missing, tested } = testsOf(cases, capabilities, without);
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
