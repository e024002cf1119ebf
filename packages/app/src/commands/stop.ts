import { setTimeout as wait } from 'node:timers/promises';
import type { PlantRepository, TokenVerifier } from '@plant-store/domain';
import type { DrainableServer } from '@plant-store/http-koa';
import type { Logger } from 'pino';
import type { Configuration } from '../configuration/configuration.js';
import type { Health } from '../health.js';
import type { Host } from './host.js';

/** The open parts of the service, which must be closed. */
export interface Parts {
  readonly server: DrainableServer;
  readonly management: DrainableServer | undefined;
  readonly tokenVerifier: TokenVerifier;
  readonly plantRepository: PlantRepository;
}

/** Stops the service gracefully. The next signal ends the process at once. Resolves with the exit code. */
export async function stop(
  host: Host,
  { SHUTDOWN_DELAY_MS, SHUTDOWN_TIMEOUT_MS }: Configuration,
  parts: Parts,
  health: Health,
  logger: Logger,
): Promise<number> {
  void nextSignal(host).then((signal) => {
    logger.warn({ signal }, 'stopping at once');
    host.exit(1);
  });
  health.stop();
  await wait(SHUTDOWN_DELAY_MS);
  await close(parts, SHUTDOWN_TIMEOUT_MS);
  logger.info('stopped');
  return 0;
}

/**
 * Closes all parts, the storage after the last response, so that the process can end. Connections that are open
 * after `timeLimitMs` milliseconds are cut off.
 */
export async function close(parts: Parts, timeLimitMs: number): Promise<void> {
  await parts.server.drain(timeLimitMs);
  await parts.tokenVerifier.close();
  await parts.plantRepository.close();
  await parts.management?.drain(0);
}

/** Resolves with the next SIGTERM or SIGINT, which then does not end the process. */
export function nextSignal(host: Host): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) host.once(signal, () => resolve(signal));
  });
}
