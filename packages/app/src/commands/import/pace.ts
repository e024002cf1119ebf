import type { Progress } from '@plant-store/import-ndjson';

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A whole number to be read. */
export function readable(value: number): string {
  return number.format(value);
}

/** Lines of an import that hold something and were not stored. */
export function notStored({ outcomes }: Progress): number {
  const { taken, invalid, unavailable, unknown, failed } = outcomes;
  return taken + invalid + unavailable + unknown + failed;
}

/** What an import does in the time from one progress to the next. */
export class Pace {
  #at: number;
  #stored = 0;
  #bytes = 0;

  /** @param now Milliseconds, as are those of {@link next}. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Plants and bytes a second since the last call. */
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
