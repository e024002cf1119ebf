import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { Configuration } from './configuration.js';
import { ids } from './container.js';

/** How long connections without a request may stay, so that their clients hear of the end in an answer. */
const IDLE_GRACE_MS = 1000;

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
  await drain(await container.getAsync(ids.server), configuration.SHUTDOWN_TIMEOUT_MS);
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

/**
 * Takes no new connections, lets requests be answered, closes what idles, and after the time
 * limit whatever is left.
 */
async function drain(server: Server, timeLimit: number): Promise<void> {
  const closed = once(server, 'close');
  // HTTP's own `close` would cut idle connections at once, under requests already on their way.
  NetServer.prototype.close.call(server);
  const timers = [
    setTimeout(() => server.closeIdleConnections(), IDLE_GRACE_MS),
    setTimeout(() => server.closeAllConnections(), timeLimit),
  ];
  await closed;
  timers.forEach(clearTimeout);
}
