import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';

/** A call that should settle within 2 seconds fails a case when it takes longer than this. */
const MAX_SETTLE_MS = 5_000;
const MAX_WAIT_MS = 20_000;
const POLL_INTERVAL_MS = 10;

/** Settles like `promise`. Rejects when that takes longer than `limitMs`, 5 seconds by default. */
export async function settled<T>(promise: Promise<T>, limitMs = MAX_SETTLE_MS): Promise<T> {
  const timeout = new AbortController();
  const late = wait(limitMs, undefined, timeout).then(() => expect.fail('never settled'));
  return Promise.race([promise, late]).finally(() => timeout.abort());
}

/** Resolves with what a call rejects with, and with `undefined` when it resolves. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return settled(call).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Resolves as soon as `attempt` resolves with true. Rejects after 20 seconds, or `limitMs`, with `failure`. */
export async function until(
  attempt: () => Promise<boolean>,
  failure: string,
  limitMs = MAX_WAIT_MS,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await attempt())) {
    if (performance.now() > end) expect.fail(failure);
    await wait(POLL_INTERVAL_MS);
  }
}
