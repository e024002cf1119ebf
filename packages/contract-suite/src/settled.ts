import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';

/** A call that should settle within 2 seconds fails a case when it takes longer than this. */
const MAX_SETTLE_MS = 5_000;
const MAX_WAIT_MS = 20_000;
const POLL_INTERVAL_MS = 10;

/** Settles like `promise`. Rejects when that takes longer than 5 seconds. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const late = wait(MAX_SETTLE_MS, undefined, timeout).then(() => expect.fail('never settled'));
  return Promise.race([promise, late]).finally(() => timeout.abort());
}

/** Resolves with what a call rejects with, and with `undefined` when it resolves. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return settled(call).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Resolves as soon as `attempt` resolves with true. Rejects after 20 seconds with `failure`. */
export async function until(attempt: () => Promise<boolean>, failure: string): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!(await attempt())) {
    if (performance.now() > end) expect.fail(failure);
    await wait(POLL_INTERVAL_MS);
  }
}
