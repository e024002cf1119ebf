import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailableError } from '@plant-store/domain';

/** The rest of the 5 seconds of a check is for closing. */
const MAX_WAIT_MS = 4500;
const PAUSE_MS = 100;

/** Resolves after `ms` milliseconds; rejects when the signal aborts. */
export type Pause = (
  ms: number,
  value: string,
  options: { signal: AbortSignal },
) => Promise<string>;

/**
 * Resolves with the reason why a part of the service is not ready; with `undefined` when it is ready.
 *
 * A part that is still connecting gets up to 4.5 seconds. A part that refuses gets no time. Leaves no timer.
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
      if (!(problem instanceof StorageUnavailableError && problem.waits)) return problem;
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
