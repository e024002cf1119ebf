import type { BatchTracer } from '@plant-store/domain';

/** Returns the caller; `undefined` when the tracer throws. */
export function callerOf(tracer: BatchTracer): unknown {
  try {
    return tracer.caller();
  } catch {
    return undefined;
  }
}

/** Runs a command for plants, once and at once. A tracer that throws, or calls it late or never, loses its trace only. */
export function traced<T>(
  tracer: BatchTracer | undefined,
  name: string,
  plants: readonly { readonly caller: unknown }[],
  command: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return command();
  const callers = plants.map(({ caller }) => caller);
  let running: Promise<T> | undefined;
  const once = () => {
    running ??= command();
    return running;
  };
  // The async function turns what `run` throws into a rejection.
  (async () => tracer.run(name, callers, once))().catch(() => undefined);
  return once();
}
