import { createRequire } from 'node:module';
import type { Logger, LoggerOptions } from 'pino';
import type { Configuration } from '../configuration/configuration.js';

/** Instrumentation that is preloaded with `--import` alone patches what is required, not what is imported. */
const { pino, stdTimeFunctions }: typeof import('pino') = createRequire(import.meta.url)('pino');

/**
 * The log of the process: one JSON object a line, or readable for a person.
 *
 * @param output Standard output by default.
 */
export async function openLogger(
  configuration: Pick<Configuration, 'LOG_FORMAT'> & { readonly LOG_LEVEL: string },
  output?: NodeJS.WritableStream,
): Promise<Logger> {
  const options: LoggerOptions = {
    level: configuration.LOG_LEVEL,
    base: null,
    formatters: { level: (level) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
  };
  if (configuration.LOG_FORMAT === 'json') return pino(options, output);
  const { build } = await import('pino-pretty');
  return pino(options, build({ sync: true, ...(output && { destination: output }) }));
}
