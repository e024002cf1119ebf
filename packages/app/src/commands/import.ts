import { createReadStream } from 'node:fs';
import { PlantImport } from '@plant-store/plants-ndjson';
import { ids } from '../container.js';
import { countOf, readArguments, UsageError } from './arguments.js';
import { asClient } from './client.js';
import { type OwnProcess, stopSignal, writerTo } from './own-process.js';
import { runResumable } from './resumable.js';

/** How long the outcome of a line is waited for: longer than a database usually pauses. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Runs an import. Writes each line that was not stored to standard output. Resolves with the exit code: 0 when every
 * line is stored, otherwise 1.
 *
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before anything is stored.
 */
export async function importPlants(process: OwnProcess, args: readonly string[]): Promise<number> {
  const signal = stopSignal(process);
  const { files, values } = readArguments('import', ['from-line'], args);
  const [file = '-', another] = files;
  if (another !== undefined) {
    throw new UsageError(`import: expected one FILE, found '${another}' too`);
  }
  const fromLine = countOf('import: --from-line', values['from-line']) ?? 1;
  const write = writerTo(process.stdout);
  return asClient(process, false, async ({ container, client, configuration }) => {
    const logger = await container.getAsync(ids.logger);
    const plantImport = new PlantImport({
      createPlant: await container.getAsync(ids.createPlant),
      client,
      timeLimitMs: PATIENCE_MS,
      maxLineBytes: configuration.BODY_LIMIT,
      fromLine,
      signal,
      async reject(reject, bug) {
        if (bug !== undefined) logger.error({ line: reject.line, err: bug }, 'a line failed');
        await write(`${JSON.stringify(reject)}\n`);
      },
    });
    const counts = () => {
      const errors = [...plantImport.rejected].map(([error, lines]) => `, ${error}: ${lines}`);
      return `stored: ${plantImport.stored}${errors.join('')}`;
    };
    const resume = () => `--from-line ${plantImport.nextLine}`;
    const run = async () => {
      const input = file === '-' ? process.stdin : createReadStream(file);
      const last = await plantImport.run(input);
      if (fromLine <= last + 1) return;
      const rule = `expected at most ${last + 1}, since the input has ${last} lines`;
      throw new UsageError(`import: --from-line: ${rule}, found '${fromLine}'`);
    };
    const work = { command: 'import', signal, counts, resume, run };
    const isComplete = await runResumable(process, work, configuration);
    return isComplete && plantImport.rejected.size === 0 ? 0 : 1;
  });
}
