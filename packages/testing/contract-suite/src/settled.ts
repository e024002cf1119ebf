import { setTimeout as wait } from 'node:timers/promises';
import { fail } from './fail.js';

/** How much later than its limit a call may settle, because timers are late on a busy machine. */
const MAX_DELAY_MS = 2_000;
/**
 * The event-loop utilization above which this process counts as blocked. A process that only waits for a database stays
 * far below it, even on a busy machine.
 */
const BLOCKED_UTILIZATION = 0.9;
const MAX_WAIT_MS = 20_000;
/** The longest delay of a timer of Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const POLL_INTERVAL_MS = 10;

/** Settles like `call`, or fails 2 seconds after its limit. `what` names the call, such as `add of plant 7`. */
export async function inTime<T>(call: Promise<T>, timeLimitMs: number, what: string): Promise<T> {
  const begin = performance.eventLoopUtilization();
  const settled = new AbortController();
  const { signal } = settled;
  const endsAfterMs = Math.min(Math.max(0, timeLimitMs + MAX_DELAY_MS), MAX_TIMER_MS);
  const late = wait(endsAfterMs, undefined, { signal }).then(() => {
    const isBlocked = performance.eventLoopUtilization(begin).utilization > BLOCKED_UTILIZATION;
    const why = isBlocked ? ': the event loop was hardly ever idle, something blocks it' : '';
    const limits = `${MAX_DELAY_MS} ms after its limit of ${timeLimitMs} ms`;
    return fail(`${what} has not settled ${limits}${why}`);
  });
  return Promise.race([call, late]).finally(() => settled.abort());
}

/** Resolves with what a call rejects with; with `undefined` when it resolves. Rejects when an assertion fails. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    // By its name, because each test framework has a class of its own.
    if (error instanceof Error && error.name.startsWith('AssertionError')) throw error;
    return error ?? new Error(`a rejection without an error: ${error}`);
  }
}

/**
 * Resolves as soon as `attempt` resolves with true. Fails with `failure` after 20 seconds, or `timeLimitMs`. Time in
 * which a busy machine does not run this process is not counted, up to three times the limit.
 */
export async function until(
  attempt: () => Promise<boolean>,
  failure: () => string,
  timeLimitMs = MAX_WAIT_MS,
): Promise<void> {
  const begin = performance.now();
  let end = begin + timeLimitMs;
  while (!(await attempt())) {
    const now = performance.now();
    if (now > end) fail(failure());
    await wait(POLL_INTERVAL_MS);
    const late = performance.now() - now - POLL_INTERVAL_MS;
    end = Math.min(end + late, begin + 3 * timeLimitMs);
  }
}
