import type { Progress } from '@plant-store/import-ndjson';

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Formats a number as a whole number with separators of thousands. */
export function readable(value: number): string {
  return number.format(value);
}

/** Returns how many lines of an import were not stored, without empty ones. */
export function notStored({ outcomes }: Progress): number {
  const { taken, invalid, unavailable, unknown, failed } = outcomes;
  return taken + invalid + unavailable + unknown + failed;
}

/** Measures the speed of an import between two calls of {@link next}. */
export class Pace {
  #at: number;
  #stored = 0;
  #bytes = 0;

  /** @param now The time in milliseconds, on the same clock as that of {@link next}. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Returns the plants and bytes per second since the last call. */
  next({ outcomes, bytes }: Progress, now: number): { plants: number; bytes: number } {
    const seconds = (now - this.#at) / 1000;
    const perSecond = (count: number) => (seconds > 0 ? count / seconds : 0);
    const pace = {
      plants: perSecond(outcomes.stored - this.#stored),
      bytes: perSecond(bytes - this.#bytes),
    };
    this.#at = now;
    this.#stored = outcomes.stored;
    this.#bytes = bytes;
    return pace;
  }
}
