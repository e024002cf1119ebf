import type { ProgressDisplay } from './progress-display.js';

/** Displays no progress, only the log. */
export class LogOnly implements ProgressDisplay {
  readonly log: NodeJS.WritableStream;

  constructor(output: NodeJS.WritableStream) {
    this.log = output;
  }

  start(): void {}
  stop(): void {}
}
