import type { Progress } from '@plant-store/import-ndjson';
import { notStored, Pace, readable } from './pace.js';
import type { ProgressDisplay, ProgressSource } from './progress-display.js';

const INTERVAL_MS = 10_000;

/** Displays progress as one line every ten seconds, for logs. */
export class ProgressLines implements ProgressDisplay {
  readonly log: NodeJS.WritableStream;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: NodeJS.WritableStream) {
    this.log = output;
  }

  start(source: ProgressSource, size: number | undefined): void {
    const pace = new Pace(performance.now());
    this.#timer = setInterval(() => {
      const { progress } = source;
      const speed = pace.next(progress, performance.now());
      this.log.write(`${lineOf(progress, speed, size)}\n`);
    }, INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Returns one line about progress. */
export function lineOf(
  progress: Progress,
  speed: ReturnType<Pace['next']>,
  size: number | undefined,
): string {
  const { outcomes, retrying, bytes, nextLine } = progress;
  const share = size === undefined ? undefined : Math.floor((100 * bytes) / size);
  const left = size === undefined ? undefined : Math.ceil((size - bytes) / speed.bytes);
  return [
    `${readable(outcomes.stored)} plants stored, ${readable(speed.plants)} a second`,
    notStored(progress) > 0 ? `${readable(notStored(progress))} lines not stored` : '',
    retrying > 0 ? `${readable(retrying)} wait for the storage` : '',
    share === undefined ? '' : `${share} % of the file`,
    left === undefined || !Number.isFinite(left) ? '' : `${readable(left)} s left`,
    `--from-line ${nextLine}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}
