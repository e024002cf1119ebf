import { setTimeout as wait } from 'node:timers/promises';
import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import { readConfiguration } from '../configuration/configuration.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';

const PATIENCE_MS = 5000;
const PAUSE_MS = 100;

/** Reaches what the configuration names. Resolves with the exit code: 0 when all of it is there, otherwise 1. */
export async function check(): Promise<number> {
  const configuration = await readConfiguration(process.env, process.stdout.isTTY);
  const logger = await openLogger({ LOG_FORMAT: 'json', LOG_LEVEL: 'silent' });
  const authentication = configuration.authentication ?? { kind: 'static', tokens: [] };
  const container = createContainer(configuration, authentication, logger);
  const plants = await container.getAsync(ids.plantRepository);
  const tokens = await container.getAsync(ids.tokenVerifier);
  const reached = await Promise.all([
    report(`storage (${configuration.STORAGE})`, plants),
    report(`token verifier (${authentication.kind})`, tokens),
  ]);
  await Promise.all([plants.close(), tokens.close()]);
  return reached.every(Boolean) ? 0 : 1;
}

async function report(name: string, part: PlantRepository | TokenVerifier): Promise<boolean> {
  const reason = await reasonNotReady(part);
  process.stdout.write(`${name}: ${reason === undefined ? 'ready' : `not ready, ${reason}`}\n`);
  return reason === undefined;
}

/** What has only begun to connect gets some time to do so. */
async function reasonNotReady(part: PlantRepository | TokenVerifier): Promise<string | undefined> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const reason = await part.ready().then(
      () => undefined,
      (error) => (error instanceof Error ? error.message : String(error)),
    );
    if (reason === undefined || performance.now() > until) return reason;
    await wait(PAUSE_MS);
  }
}
