import { setTimeout as wait } from 'node:timers/promises';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { Configuration } from './configuration.js';
import { ids } from './container.js';

/**
 * Stops the service at the first SIGTERM or SIGINT, gracefully; at the second one, at once.
 * Resolves with the exit code when everything is closed.
 */
export async function stopOnSignal(
  configuration: Configuration,
  container: Container,
  logger: Logger,
): Promise<number> {
  const signal = await anySignal();
  logger.info({ signal }, 'stopping');
  void anySignal().then((second) => {
    logger.warn({ signal: second }, 'stopping at once');
    process.exit(1);
  });
  (await container.getAsync(ids.health)).stop();
  await wait(configuration.SHUTDOWN_DELAY_MS);
  await (await container.getAsync(ids.server)).drain(configuration.SHUTDOWN_TIMEOUT_MS);
  await (await container.getAsync(ids.tokenVerifier)).close();
  await (await container.getAsync(ids.plantRepository)).close();
  const management = await container.getAsync(ids.managementServer);
  management?.close();
  management?.closeAllConnections();
  logger.info('stopped');
  return 0;
}

function anySignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal));
  });
}
