import { expect } from 'chai';
import { describe, it } from 'mocha';
import { acceptance } from './acceptance.js';
import type { ContractCase } from './contract-case.js';
import { disclosure } from './disclosure.js';
import { lifetime } from './lifetime.js';
import { type OpenVerifier, VERIFIER_HOOKS, type VerifierHook } from './open-verifier.js';
import { outages } from './outages.js';
import { refusal } from './refusal.js';

/** For a dependency that takes its time to come back. */
const CASE_WITHIN_MS = 60_000;

/** Every promise of the port, in a form that a runner other than Mocha can run too. */
export const contractCases: readonly ContractCase[] = [
  ...acceptance,
  ...refusal,
  ...outages,
  ...disclosure,
  ...lifetime,
];

/** What a suite cannot test of an adapter. */
export interface TokenVerifierSuiteOptions {
  /**
   * Why a verifier offers no such hook: one reason for each, or a single one for all. The reason becomes
   * part of the report. A case that needs a hook for which there is neither fails.
   */
  readonly without?: string | Readonly<Partial<Record<VerifierHook, string>>>;
}

/**
 * Declares the suite that every `TokenVerifier` must pass.
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
    this.timeout(CASE_WITHIN_MS);
    for (const hook of VERIFIER_HOOKS) {
      const reason = reasonFor(hook);
      if (reason === undefined) continue;
      test(`is not tested with ${hook}: ${reason}`, async (opened) => {
        expect(reason, 'the reason').to.not.equal('');
        expect(opened[hook], `${hook}, which is offered all the same`).to.equal(undefined);
      });
    }
    for (const { title, needs = [], run } of contractCases) {
      if (needs.every((hook) => reasonFor(hook) === undefined)) test(title, run);
    }
  });
}
