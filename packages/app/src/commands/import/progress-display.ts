import type { Progress } from '@plant-store/import-ndjson';

/** The import whose progress is displayed. */
export interface ProgressSource {
  readonly progress: Progress;
}

/** Displays the progress of an import. */
export interface ProgressDisplay {
  /** The stream for the log while the display is shown. */
  readonly log: NodeJS.WritableStream;
  /** Starts to display. @param size The size of the input in bytes, if it is known. */
  start(source: ProgressSource, size: number | undefined): void;
  stop(): void;
}
