import { expect } from 'chai';
import { describe, it } from 'mocha';
import { acceptance } from './acceptance.js';
import type { ContractCase } from './contract-case.js';
import { disclosure } from './disclosure.js';
import { lifetime } from './lifetime.js';
import { type OpenVerifier, VERIFIER_HOOKS, type VerifierHook } from './open-verifier.js';
import { outages } from './outages.js';
import { refusal } from './refusal.js';

/** The time limit of a case, long enough for a dependency that is slow to restart. */
const CASE_TIMEOUT_MS = 60_000;

/** The promises of the port as cases, for test runners other than Mocha. */
export const contractCases: readonly ContractCase[] = [
  ...acceptance,
  ...refusal,
  ...outages,
  ...disclosure,
  ...lifetime,
];

/** Declares what the suite cannot test of an adapter. */
export interface TokenVerifierSuiteOptions {
  /**
   * Why the verifier does not offer a hook: one reason for each hook, or a single one for all. The report
   * shows the reason. A case that needs a hook without a function and without a reason fails.
   */
  readonly without?: string | Readonly<Partial<Record<VerifierHook, string>>>;
}

/**
 * Declares the Mocha suite that every `TokenVerifier` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new verifier for each case. The suite closes it.
 */
export function describeTokenVerifier(
  name: string,
  open: () => Promise<OpenVerifier>,
  { without = {} }: TokenVerifierSuiteOptions = {},
): void {
  const reasonFor = (hook: VerifierHook) => (typeof without === 'string' ? without : without[hook]);
  const test = (title: string, run: (open: OpenVerifier) => Promise<void>) =>
    it(title, async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.verifier.close();
      }
    });

  describe(`${name} as a TokenVerifier`, function () {
    this.timeout(CASE_TIMEOUT_MS);
    for (const hook of VERIFIER_HOOKS) {
      const reason = reasonFor(hook);
      if (reason === undefined) continue;
      test(`is not tested with ${hook}: ${reason}`, async (opened) => {
        expect(reason, 'the reason').to.not.equal('');
        expect(opened[hook], `${hook}, which the verifier offers`).to.equal(undefined);
      });
    }
    for (const { title, needs = [], run } of contractCases) {
      if (needs.every((hook) => reasonFor(hook) === undefined)) test(title, run);
    }
  });
}
