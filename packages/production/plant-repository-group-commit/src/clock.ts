/** A source of time that tests can replace with one they control. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Calls `act` once, after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, act: () => void): () => void;
}

/** The longest delay of a timer of Node.js. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * A time limit has passed. This is a class of its own because drivers mistake the `TimeoutError` of
 * `AbortSignal.timeout` for one of their own.
 */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';

  constructor() {
    super('the server does not respond');
  }
}

/** Calls with a signal that aborts with {@link NoResponseError} after some milliseconds. Settles like the call. */
export async function withTimeLimit<T>(
  ms: number,
  clock: Pick<Clock, 'after'>,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const stopTimer = clock.after(ms, () => limit.abort(new NoResponseError()));
  return call(limit.signal).finally(stopTimer);
}

/** The time of this process. */
export const CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
};
