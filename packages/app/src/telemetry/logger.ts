import { createRequire } from 'node:module';
import type { Logger, LoggerOptions } from 'pino';

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
const { pino, stdTimeFunctions }: typeof import('pino') = createRequire(import.meta.url)('pino');

/** Opens the log of the process: one JSON object a line, or a form for people. */
export async function openLogger(
  configuration: { readonly LOG_FORMAT: 'json' | 'pretty'; readonly LOG_LEVEL: string },
  output: NodeJS.WritableStream,
): Promise<Logger> {
  const options: LoggerOptions = {
    level: configuration.LOG_LEVEL,
    base: null,
    formatters: { level: (level) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
  };
  // Without a stream, the log is written to the descriptor of standard output, which takes less time.
  const stream = output === process.stdout ? undefined : output;
  if (configuration.LOG_FORMAT === 'json') return pino(options, stream);
  const { build } = await import('pino-pretty');
  return pino(options, build({ sync: true, ...(stream && { destination: stream }) }));
}
