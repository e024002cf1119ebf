import type { Progress } from '@plant-store/import-ndjson';

/** What a display of progress needs. */
export interface ProgressSource {
  readonly progress: Progress;
}

/** Shows how far an import has come. */
export interface ProgressDisplay {
  /** Where the log goes meanwhile. */
  readonly log: NodeJS.WritableStream;
  /** @param size Bytes of the input, where they are known. */
  start(source: ProgressSource, size: number | undefined): void;
  stop(): void;
}

/** A bar on a terminal, otherwise a line each ten seconds. */
export async function openProgressDisplay(output: NodeJS.WriteStream): Promise<ProgressDisplay> {
  if (!output.isTTY) {
    const { ProgressLines } = await import('./progress-lines.js');
    return new ProgressLines(output);
  }
  const { ProgressBar } = await import('./progress-bar.js');
  return new ProgressBar(output);
}

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
