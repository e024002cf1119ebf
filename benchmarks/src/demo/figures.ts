import type { Create } from './clients.js';
import type { Run } from './demo.js';
import { type Tally, tally, WRONG } from './outcomes.js';

/** What the responses from one fault to the next report. */
export interface FaultFigures {
  readonly responses: number;
  readonly unknown: number;
  readonly longestWaitMs: number;
}

export interface Figures {
  readonly name: string;
  readonly isService: boolean;
  readonly sent: number;
  readonly outcomes: Tally;
  readonly faults: Readonly<Record<string, FaultFigures>>;
}

export function figuresOf({ happened, results }: Run): Figures[] {
  return results.map(({ name, isService, creates, ids }) => ({
    name,
    isService,
    sent: creates.length,
    outcomes: tally(creates, ids),
    faults: Object.fromEntries(
      happened.map((fault, index) => {
        const next = happened[index + 1]?.from ?? Number.POSITIVE_INFINITY;
        return [
          fault.name,
          faultFigures(creates.filter(({ at }) => at >= fault.from && at < next)),
        ];
      }),
    ),
  }));
}

function faultFigures(creates: readonly Create[]): FaultFigures {
  return {
    responses: creates.length,
    unknown: creates.filter(({ reported }) => reported === 'unknown').length,
    longestWaitMs: Math.round(creates.reduce((longest, it) => Math.max(longest, it.waitMs), 0)),
  };
}

/** Returns how many responses of a subject were wrong. */
export function wrongOf({ outcomes }: Pick<Figures, 'outcomes'>): number {
  return WRONG.reduce((total, it) => total + outcomes[it], 0);
}

/** Returns the exit code of the demo: 1 if a response of the service was wrong, on any of its implementations. */
export function exitCodeOf(figures: readonly Figures[]): 0 | 1 {
  const own = figures.filter(({ isService }) => isService);
  return own.length > 0 && own.every((it) => wrongOf(it) === 0) ? 0 : 1;
}
