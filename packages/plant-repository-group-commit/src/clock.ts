/** Time, which a test replaces by one that it advances itself. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Calls `act` once, after some milliseconds. Returns what prevents the call. */
  after(ms: number, act: () => void): () => void;
}

/** The longest delay of a timer of Node.js. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time of this process. */
export const CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
};
