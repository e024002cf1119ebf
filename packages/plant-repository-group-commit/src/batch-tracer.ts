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

/** Returns the caller; `undefined` without a tracer, or when the tracer fails. */
export function callerOf(tracer: BatchTracer | undefined): unknown {
  try {
    return tracer?.caller();
  } catch {
    return undefined;
  }
}

/** Runs a command once and at once. A tracer that throws, or calls it late or never, loses its trace only. */
export function traced<T>(
  tracer: BatchTracer,
  name: string,
  callers: readonly unknown[],
  command: () => Promise<T>,
): Promise<T> {
  let running: Promise<T> | undefined;
  const once = () => {
    running ??= command();
    return running;
  };
  try {
    tracer.run(name, callers, once).catch(() => undefined);
  } catch {
    // The command runs without a trace.
  }
  return once();
}
