import { Writable } from 'node:stream';
import type { MultiBar } from 'cli-progress';
import type { Output } from './own-process.js';

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Formats a number as a whole number with separators of thousands. */
export function readable(value: number): string {
  return number.format(value);
}

/** Measures the speed of a count between two calls of {@link next}. */
export class Pace {
  #at: number;
  #count = 0;

  /** @param now The time in milliseconds, on the same clock as that of {@link next}. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Returns by how much the count has grown per second since the last call. */
  next(count: number, now: number): number {
    const seconds = (now - this.#at) / 1000;
    const speed = seconds > 0 ? (count - this.#count) / seconds : 0;
    this.#at = now;
    this.#count = count;
    return speed;
  }
}

/** What a display shows. */
export interface ProgressSource {
  /** How far the command is, in the unit of the total. */
  readonly done: number;
  /** Returns the rest of the progress as text. Called at most once a second. */
  text(): string;
}

/** Displays the progress of a command. */
export interface ProgressDisplay {
  /** The stream for the log while the display is shown. */
  readonly log: NodeJS.WritableStream;
  /** Starts to display. @param total The end of `done`, if it is known. */
  start(source: ProgressSource, total?: number): void;
  stop(): void;
}

/** Opens a progress bar for a terminal, and otherwise a display with one line every ten seconds. */
export async function openProgressDisplay(output: Output): Promise<ProgressDisplay> {
  if (!output.isTTY) return new ProgressLines(output);
  const { Format, MultiBar } = (await import('cli-progress')).default;
  return new ProgressBar(
    new MultiBar({
      stream: output,
      // The command handles signals itself.
      gracefulExit: false,
      hideCursor: true,
      // Without progress, the time that is left is not a number.
      formatTime: (seconds, options, rounding) =>
        Number.isFinite(seconds) ? Format.TimeFormat(seconds, options, rounding) : 'unknown time',
    }),
  );
}

const INTERVAL_MS = 1000;

/** Shows progress on a terminal: a bar if the total is known, otherwise a text; and the log above it. */
class ProgressBar implements ProgressDisplay {
  readonly log: Writable;
  readonly #bars: MultiBar;
  #timer: NodeJS.Timeout | undefined;
  #refresh: (() => void) | undefined;
  #isStopped = false;

  constructor(bars: MultiBar) {
    this.#bars = bars;
    this.log = new Writable({
      write: (line, _encoding, done) => {
        this.#bars.log(`${line}`);
        done();
      },
    });
  }

  start(source: ProgressSource, total?: number): void {
    const format =
      total === undefined ? '{text}' : '{bar} {percentage} % | {text} | {eta_formatted} left';
    const bar = this.#bars.create(total ?? 0, 0, { text: source.text() }, { format });
    this.#refresh = () => bar.update(source.done, { text: source.text() });
    this.#timer = setInterval(this.#refresh, INTERVAL_MS);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#refresh?.();
    // Without an update, lines that were logged since the last redraw would be lost.
    this.#bars.update();
    this.#bars.stop();
  }
}

/** Displays progress as one line every ten seconds, for logs. */
export class ProgressLines implements ProgressDisplay {
  readonly log: NodeJS.WritableStream;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: NodeJS.WritableStream, intervalMs = 10_000) {
    this.log = output;
    this.#intervalMs = intervalMs;
  }

  start(source: ProgressSource, total?: number): void {
    this.#timer = setInterval(() => {
      const share = total === undefined ? '' : `${Math.floor((100 * source.done) / total)} % | `;
      this.log.write(`${share}${source.text()}\n`);
    }, this.#intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
