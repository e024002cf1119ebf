import { CreatePlant } from '@plant-store/domain';
import { NotNdjsonError, PlantImport } from '@plant-store/plants-ndjson';
import { ids } from '../container.js';
import { type Arguments, countOf, UsageError } from './arguments.js';
import { type OwnProcess, readerOf, writerTo } from './own-process.js';
import { runAsClient } from './run-as-client.js';

/** How long to keep trying to store a line: longer than a failover, a database pause or a maintenance window. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Writes each line that was not stored to standard output. Resolves with the exit code: 0 when every line is stored,
 * otherwise 1. Rejects with `UsageError`, `ConfigurationError` or `StartError` before anything is stored.
 */
export async function importPlants(
  process: OwnProcess,
  { file = '-', values }: Arguments,
): Promise<number> {
  const fromLine = countOf('import: --from-line', values['from-line']) ?? 1;
  const write = writerTo(process.stdout);
  return runAsClient(process, 'import', async ({ container, token, configuration, signal }) => {
    const tokens = await container.getAsync(ids.verifier);
    const plants = await container.getAsync(ids.plantRepository);
    // Without the limit of the requests that are in progress.
    const creator = await new CreatePlant(tokens, plants).authorize(token);
    const logger = await container.getAsync(ids.logger);
    // Otherwise each line that was not sent yet would wait for an unreachable database.
    signal.addEventListener('abort', () => void plants.close());
    const plantImport = new PlantImport({
      creator,
      timeLimitMs: PATIENCE_MS,
      maxLineBytes: configuration.BODY_LIMIT,
      fromLine,
      signal,
      async reject(reject, bug) {
        if (bug !== undefined)
          logger.error({ line: reject.line, err: bug }, 'a line failed because of a bug');
        await write(`${JSON.stringify(reject)}\n`);
      },
    });
    return {
      counts() {
        const errors = [...plantImport.rejected].map(([error, lines]) => `, ${error}: ${lines}`);
        return `stored: ${plantImport.stored}${errors.join('')}`;
      },
      resume: () => `--from-line ${plantImport.nextLine}`,
      async run() {
        const input = file === '-' ? process.stdin : readerOf(file);
        const last = await plantImport.run(input).catch((error: unknown) => {
          if (!(error instanceof NotNdjsonError)) throw error;
          throw new UsageError(`import: ${error.message}`);
        });
        if (fromLine <= last + 1) return plantImport.rejected.size === 0 ? 0 : 1;
        const rule = `must be at most ${last + 1}, because the input has ${last} lines`;
        throw new UsageError(`import: --from-line ${rule}, got '${fromLine}'`);
      },
    };
  });
}
