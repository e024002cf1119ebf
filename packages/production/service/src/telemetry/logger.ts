import { createRequire } from 'node:module';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
const { destination, pino, stdTimeFunctions }: typeof import('pino') = createRequire(
  import.meta.url,
)('pino');

/** A log of the service. An error is in the field `err`. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

export interface LogConfiguration {
  readonly LOG_FORMAT: 'json' | 'pretty';
  readonly LOG_LEVEL: string;
}

export type LogOutput = DestinationStream & { readonly fd?: number };

/** How many bytes are kept while the output accepts nothing. Further lines are lost. */
const MAX_KEPT = 2 ** 20;

const RETRY_MS = 100;

/**
 * Opens the log of the service or of a command: one JSON object a line, or text for people. A full disk or a stopped
 * reader does not block the service: `lost` is called for each dropped line, and a later line reports how many were
 * dropped.
 */
export async function openLog(
  { LOG_FORMAT, LOG_LEVEL }: LogConfiguration,
  stream: LogOutput,
  lost: () => void,
): Promise<Log> {
  const options: LoggerOptions = {
    level: LOG_LEVEL,
    base: null,
    formatters: { level: (level) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
  };
  const pretty = LOG_FORMAT === 'pretty' && (await import('pino-pretty')).prettyFactory({});
  const open = (output: DestinationStream) =>
    pino(options, pretty ? { write: (line) => output.write(pretty(JSON.parse(line))) } : output);
  // A process manager such as PM2 replaces `write`, to collect what a worker of a cluster prints.
  const { fd } = stream;
  if (fd === undefined || Object.hasOwn(stream, 'write')) return open(stream);
  const output = destination({
    dest: fd,
    sync: true,
    maxLength: MAX_KEPT,
    retryEAGAIN: () => false,
  });
  const logger = open(output);
  let lines = 0;
  let problem: NodeJS.ErrnoException | undefined;
  const retry = () => {
    const reason = problem?.code;
    problem = undefined;
    // Writes what was kept. An error is emitted before this returns.
    output.write('');
    if (problem !== undefined || lines === 0) return;
    logger.error({ lines, reason }, 'log lines were lost');
    lines = 0;
  };
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (problem === undefined) setTimeout(retry, RETRY_MS).unref();
    problem = error;
  });
  output.on('drop', () => {
    lines += 1;
    lost();
  });
  return logger;
}
