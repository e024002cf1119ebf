/**
 * Shows batches to a tracing system. A batch carries the plants of several callers, so it runs in the
 * asynchronous context of none of them. It can only be linked to them.
 */
export interface BatchTracer<Caller = unknown> {
  /** Returns what identifies the caller of `add`. Called in the asynchronous context of that caller. */
  caller(): Caller;
  /** Runs one command for the plants of these callers. Settles like `command`. */
  run<T>(name: string, callers: readonly Caller[], command: () => Promise<T>): Promise<T>;
}
