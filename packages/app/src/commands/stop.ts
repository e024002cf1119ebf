import { setTimeout as wait } from 'node:timers/promises';
import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import type { DrainableServer } from '@plant-store/http-koa';
import type { Logger } from 'pino';
import type { Configuration } from '../configuration/configuration.js';
import type { Health } from '../health.js';

/** What has been opened and must be closed. */
export interface Parts {
  readonly server: DrainableServer;
  readonly management: DrainableServer | undefined;
  readonly tokenVerifier: TokenVerifier;
  readonly plantRepository: PlantRepository;
}

/** Stops the service gracefully; at the next signal, at once. Resolves with the exit code. */
export async function stop(
  { SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS }: Configuration,
  parts: Parts,
  health: Health,
  logger: Logger,
): Promise<number> {
  void nextSignal().then((signal) => {
    logger.warn({ signal }, 'stopping at once');
    process.exit(1);
  });
  health.stop();
  await wait(SHUTDOWN_DELAY_MS);
  await close(parts, SHUTDOWN_TIMEOUT_MS);
  logger.info('stopped');
  return 0;
}

/**
 * Closes from the outside in, the storage after the last response, so that nothing keeps the process
 * alive. What is unanswered after `timeLimit` milliseconds is cut off.
 */
export async function close(parts: Parts, timeLimit: number): Promise<void> {
  await parts.server.drain(timeLimit);
  await parts.tokenVerifier.close();
  await parts.plantRepository.close();
  await parts.management?.drain(0);
}

/** Resolves with the next SIGTERM or SIGINT. From now on, that does not end the process by itself. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal));
  });
}
