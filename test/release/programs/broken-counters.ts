// Adapters that do not count as they should. The test replaces the test framework.
import { contractFor, suiteOf } from '@plant-store/contract-suite';
import { mocha as runner } from '@plant-store/contract-suite/mocha';

type Open = { next(): Promise<unknown>; crash?(): Promise<void> };
const given = contractFor<Open, Pick<Required<Open>, 'crash'>>();
const cases = {
  counts: given([], async ({ next }) => void (await next())),
  recovers: given(['crash'], ({ crash }) => crash()),
};
const describe = suiteOf('Counter', cases, async () => {}, { server: ['crash'] });
const options = { timeoutMs: 500, without: ['server'] as const };
const broken = (how: string, next: Open['next']) =>
  describe(runner, how, async () => ({ next }), options);
broken('correct', async () => 1);
broken('hanging', () => new Promise((resolve) => setTimeout(resolve, 1_500)));
broken('rejecting', () => Promise.reject(new Error('out of numbers')));
broken('forgetting', async () => void Promise.reject(new Error('not awaited')));
