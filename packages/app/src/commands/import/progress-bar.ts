import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import { notStored, Pace, readable } from './pace.js';
import type { ProgressDisplay, ProgressSource } from './progress-display.js';

const INTERVAL_MS = 1000;
const PLANTS = '{stored} plants, {plants}/s{notes} | --from-line {nextLine}';

/** Shows progress on a terminal: a bar, and the log above it. */
export class ProgressBar implements ProgressDisplay {
  readonly log: Writable;
  readonly #bars: cliProgress.MultiBar;
  #timer: NodeJS.Timeout | undefined;
  #refresh: (() => void) | undefined;
  #isStopped = false;

  constructor(output: NodeJS.WritableStream) {
    // The command handles signals itself.
    const options = { stream: output, gracefulExit: false, etaBuffer: 10, hideCursor: true };
    this.#bars = new cliProgress.MultiBar(options);
    this.log = new Writable({
      write: (line, _encoding, done) => {
        this.#bars.log(`${line}`);
        done();
      },
    });
  }

  start(source: ProgressSource, size: number | undefined): void {
    const pace = new Pace(performance.now());
    const payload = () => {
      const { progress } = source;
      const { retrying } = progress;
      return {
        stored: readable(progress.outcomes.stored),
        plants: readable(pace.next(progress, performance.now()).plants),
        nextLine: progress.nextLine,
        notes: [
          notStored(progress) > 0 ? `, ${readable(notStored(progress))} not stored` : '',
          retrying > 0 ? `, ${readable(retrying)} wait for the storage` : '',
        ].join(''),
      };
    };
    const format =
      size === undefined ? PLANTS : `{bar} {percentage} % | ${PLANTS} | {eta_formatted} left`;
    const bar = this.#bars.create(size ?? 0, 0, payload(), { format });
    this.#refresh = () => bar.update(source.progress.bytes, payload());
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
