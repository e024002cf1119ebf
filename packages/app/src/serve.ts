import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type Configuration, readConfiguration } from './configuration.js';
import { createContainer, ids } from './container.js';
import { openLogger } from './logger.js';
import { StartError } from './start-error.js';
import { stopOnSignal } from './stop.js';
import { newToken, tokenDigest } from './token.js';
import { version } from './version.js';

/** Runs the service until a signal stops it. Resolves with the exit code. */
export async function serve(): Promise<number> {
  const configuration = readConfiguration(process.env, process.stdout.isTTY);
  const logger = await openLogger(configuration);
  const demoToken = configuration.ACCESS_TOKEN_SHA256 === undefined ? newToken() : undefined;
  const digests = configuration.ACCESS_TOKEN_SHA256 ?? [tokenDigest(demoToken ?? '')];
  const tokens = digests.map((sha256, index) => ({ sha256, label: `token ${index + 1}` }));

  const container = createContainer(configuration, tokens, logger);
  const server = await container.getAsync(ids.server);
  const management = await container.getAsync(ids.managementServer);
  const metrics = await container.getAsync(ids.metrics);
  server.on('drop', () => metrics?.connectionRefused());
  const stopped = stopOnSignal(configuration, container, logger);
  const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT = 0 } = configuration;
  if (management) await listen(management, 'MANAGEMENT_', MANAGEMENT_HOST, MANAGEMENT_PORT);
  await listen(server, '', HOST, PORT);
  announce(
    configuration,
    addressOf(server),
    management && addressOf(management),
    demoToken,
    logger,
  );
  return stopped;
}

async function listen(server: Server, prefix: string, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new StartError(
      `${prefix}HOST, ${prefix}PORT: cannot listen on ${host}:${port} (${reason})`,
      { cause },
    );
  }
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

const STORAGE_NOTES = {
  memory: 'memory (plants are forgotten on exit)',
} as const satisfies Record<Configuration['STORAGE'], string>;

/** Says where the service is: to a person in lines to read and paste, to a log in one entry. */
function announce(
  configuration: Configuration,
  address: string,
  management: string | undefined,
  demoToken: string | undefined,
  logger: Logger,
): void {
  const storage = STORAGE_NOTES[configuration.STORAGE];
  if (demoToken === undefined && configuration.LOG_FORMAT === 'json') {
    logger.info({ version, address, management, storage }, 'listening');
    return;
  }
  const lines = [
    `Plant Store ${version} listens on ${address}`,
    ...(configuration.DOCS === 'on' ? [`Docs: ${address}/docs`] : []),
    `Storage: ${storage}`,
    ...(management === undefined ? [] : [`Metrics: ${management}/metrics`]),
    ...(demoToken === undefined ? [] : demo(configuration, address, demoToken)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function demo(configuration: Configuration, address: string, token: string): string[] {
  const url = `${address}${configuration.BASE_PATH ?? ''}/plants`;
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"tropical"}';
  return [
    `Token: ${token} (made for this run; set ACCESS_TOKEN_SHA256 to choose your own)`,
    'Create a plant:',
    `curl -sS ${url} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${plant}'`,
  ];
}
