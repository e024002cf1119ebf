import { setTimeout as wait } from 'node:timers/promises';
import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import type { DrainableServer } from '@plant-store/http-koa';
import type { Logger } from 'pino';
import type { Configuration } from '../configuration/configuration.js';
import type { Health } from '../health.js';

/** The open parts of the service, which must be closed. */
export interface Parts {
  readonly server: DrainableServer;
  readonly management: DrainableServer | undefined;
  readonly tokenVerifier: TokenVerifier;
  readonly plantRepository: PlantRepository;
}

/** The part of {@link Parts} that closing needs. */
export interface ClosableParts {
  readonly server: Pick<DrainableServer, 'drain'>;
  readonly management: Pick<DrainableServer, 'drain'> | undefined;
  readonly tokenVerifier: Pick<TokenVerifier, 'close'>;
  readonly plantRepository: Pick<PlantRepository, 'close'>;
}

/** Stops the service gracefully. The next signal ends the process at once. Resolves with the exit code. */
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
 * Closes all parts, the storage after the last response, so that the process can end. Connections that are open
 * after `timeLimit` milliseconds are cut off.
 */
export async function close(parts: ClosableParts, timeLimit: number): Promise<void> {
  await parts.server.drain(timeLimit);
  await parts.tokenVerifier.close();
  await parts.plantRepository.close();
  await parts.management?.drain(0);
}

/** Resolves with the next SIGTERM or SIGINT, which then does not end the process. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal));
  });
}
