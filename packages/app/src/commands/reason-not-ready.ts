import { setTimeout as wait } from 'node:timers/promises';

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
 * Leaves no timer.
 *
 * @param maxWaitMs How long the part may take to connect, or to elect a primary.
 */
export async function reasonNotReady(
  part: { ready(): Promise<void> },
  maxWaitMs: number,
  pause: Pause = wait,
): Promise<unknown> {
  const timeout = new AbortController();
  // This timer also keeps the process alive: a part that waits for an unknown host has no open handle.
  const expired = pause(maxWaitMs, 'expired', timeout).catch(() => 'expired');
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
