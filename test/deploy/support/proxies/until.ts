import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when the condition is true; rejects after a minute. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`does not come true: ${condition}`);
    await pause(20);
  }
}
