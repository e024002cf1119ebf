import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailableError } from '@plant-store/domain';

/** What is left of the 5 seconds of a check is for closing. */
const PATIENCE_MS = 4500;
const PAUSE_MS = 100;

/** Resolves after so many milliseconds; rejects when the signal aborts. */
export type Pause = (
  ms: number,
  value: string,
  options: { signal: AbortSignal },
) => Promise<string>;

/**
 * Resolves with why a part of the service is not ready, or with `undefined` when it is.
 *
 * What has only begun to connect gets 4.5 seconds to do so. What refuses at once gets none. No timer
 * is left.
 */
export async function reasonNotReady(
  part: { ready(): Promise<void> },
  pause: Pause = wait,
): Promise<unknown> {
  const patience = new AbortController();
  // Also keeps the process alive: a part that waits for a host that it does not know has nothing that does.
  const expired = pause(PATIENCE_MS, 'expired', patience).catch(() => 'expired');
  try {
    let problem: unknown = new Error('no response');
    for (;;) {
      const next = await Promise.race([problemOf(part), expired]);
      if (next === undefined) return undefined;
      if (next === 'expired') return problem;
      problem = next;
      if (!(problem instanceof StorageUnavailableError && problem.waits)) return problem;
      await Promise.race([pause(PAUSE_MS, '', patience).catch(() => ''), expired]);
    }
  } finally {
    patience.abort();
  }
}

async function problemOf(part: { ready(): Promise<void> }): Promise<unknown> {
  return part.ready().then(
    () => undefined,
    (error: unknown) => error,
  );
}
