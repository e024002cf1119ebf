import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import type { ProgressDisplay, ProgressSource } from './progress-display.js';

const INTERVAL_MS = 1000;

/** Shows progress on a terminal: a bar if the total is known, otherwise a text; and the log above it. */
export class ProgressBar implements ProgressDisplay {
  readonly log: Writable;
  readonly #bars: cliProgress.MultiBar;
  #timer: NodeJS.Timeout | undefined;
  #refresh: (() => void) | undefined;
  #isStopped = false;

  constructor(output: NodeJS.WritableStream) {
    // The command handles signals itself.
    const options = { stream: output, gracefulExit: false, hideCursor: true };
    this.#bars = new cliProgress.MultiBar(options);
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
