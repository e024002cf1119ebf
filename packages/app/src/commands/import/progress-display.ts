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
