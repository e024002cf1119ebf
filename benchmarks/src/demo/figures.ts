import type { Create } from './clients.js';
import type { Run } from './demo.js';
import { type Tally, tally, WRONG } from './outcomes.js';

export interface Figures {
  readonly name: string;
  readonly sent: number;
  readonly outcomes: Tally;
  /** The longest wait for a response in milliseconds, by the fault that began last before the response. */
  readonly longestWaitMs: Readonly<Record<string, number>>;
}

export function figuresOf({ happened, columns }: Run): Figures[] {
  return columns.map(({ name, creates, ids }) => ({
    name,
    sent: creates.length,
    outcomes: tally(creates, ids),
    longestWaitMs: Object.fromEntries(
      happened.map((fault, index) => {
        const next = happened[index + 1]?.from ?? Number.POSITIVE_INFINITY;
        return [fault.name, longestWaitMs(creates, fault.from, next)];
      }),
    ),
  }));
}

function longestWaitMs(creates: readonly Create[], from: number, to: number): number {
  const waits = creates.filter(({ at }) => at >= from && at < to).map(({ waitMs }) => waitMs);
  return Math.round(waits.reduce((longest, wait) => Math.max(longest, wait), 0));
}

/** Returns the exit code of the demo: 1 if a response of the service, which is the first subject, was wrong. */
export function exitCodeOf([service]: readonly Figures[]): 0 | 1 {
  return service !== undefined && WRONG.every((it) => service.outcomes[it] === 0) ? 0 : 1;
}
