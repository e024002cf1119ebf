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
