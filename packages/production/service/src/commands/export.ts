import { isPlantId, MAX_PLANT_ID, MIN_PLANT_ID, type PlantId } from '@plant-store/domain';
import { exportPages } from '@plant-store/plants-ndjson';
import { ConfigurationError } from '../configuration/setting.js';
import { ids } from '../container.js';
import { type Arguments, countOf, UsageError } from './arguments.js';
import { type OwnProcess, writerTo } from './own-process.js';
import { runAsClient } from './run-as-client.js';

/**
 * Writes the plants to standard output. Resolves with the exit code: 0 when every plant is written, otherwise 1.
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before a plant is written.
 */
export async function exportPlants(process: OwnProcess, { values }: Arguments): Promise<number> {
  const after = values.after === undefined ? undefined : idOf(values.after);
  const limit = countOf('export: --limit', values.limit);
  const write = writerTo(process.stdout);
  return runAsClient(process, 'export', async ({ container, token, configuration, signal }) => {
    const readPlants = await container.getAsync(ids.readPlants);
    if (readPlants === undefined) {
      throw new ConfigurationError(['STORAGE: this store cannot be read. Choose another']);
    }
    const pages = await readPlants.authorize(token);
    let plants = 0;
    let last = after;
    return {
      counts: () => `exported: ${plants}`,
      resume() {
        const left = limit === undefined ? [] : [`--limit ${limit - plants}`];
        return [...(last === undefined ? [] : [`--after ${last}`]), ...left].join(' ');
      },
      async run() {
        const timeLimitMs = configuration.REQUEST_DEADLINE_MS;
        const options = { pages, timeLimitMs, after, limit, signal };
        for await (const page of exportPages(options)) {
          await write(page.lines);
          plants += page.plants;
          last = page.last;
        }
        return 0;
      },
    };
  });
}

/** @throws {UsageError} */
function idOf(text: string): PlantId {
  const id = /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new UsageError(`export: --after must be an id from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`);
}
