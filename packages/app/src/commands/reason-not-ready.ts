import { setTimeout as wait } from 'node:timers/promises';

/** The rest of the 5 seconds of a check is for starting and closing. */
const MAX_WAIT_MS = 4000;
const PAUSE_MS = 500;

/** Resolves after `ms` milliseconds; rejects when the signal aborts. */
export type Pause = (
  ms: number,
  value: string,
  options: { signal: AbortSignal },
) => Promise<string>;

/**
 * Resolves with the reason why a part of the service is not ready; with `undefined` when it is ready.
 *
 * A part gets up to 4 seconds to connect, or to elect a primary. Leaves no timer.
 */
export async function reasonNotReady(
  part: { ready(): Promise<void> },
  pause: Pause = wait,
): Promise<unknown> {
  const timeout = new AbortController();
  // This timer also keeps the process alive: a part that waits for an unknown host has no open handle.
  const expired = pause(MAX_WAIT_MS, 'expired', timeout).catch(() => 'expired');
  try {
    let problem: unknown = new Error('no response');
    for (;;) {
      const next = await Promise.race([problemOf(part), expired]);
      if (next === undefined) return undefined;
      if (next === 'expired') return problem;
      problem = next;
      await Promise.race([pause(PAUSE_MS, '', timeout).catch(() => ''), expired]);
    }
  } finally {
    timeout.abort();
  }
}

async function problemOf(part: { ready(): Promise<void> }): Promise<unknown> {
  return part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
}
