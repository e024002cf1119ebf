import type { ProgressDisplay, ProgressSource } from './progress-display.js';

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
