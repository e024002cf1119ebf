import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newToken, type TokenDigest, tokenDigest } from '@plant-store/token-verifier-static';
import type { Logger } from 'pino';
import { advice, type Configuration } from './configuration.js';
import { createContainer, ids } from './container.js';
import { openLogger } from './logger.js';
import { reloadTokensOnHangup } from './reload-tokens.js';
import { StartError } from './start-error.js';
import { stopOnSignal } from './stop.js';
import { version } from './version.js';

/** Runs the service until a signal stops it. Resolves with the exit code. */
export async function serve(configuration: Configuration): Promise<number> {
  const logger = await openLogger(configuration);
  const demoToken = configuration.authentication ? undefined : newToken();
  const authentication = configuration.authentication ?? {
    kind: 'static',
    tokens: [demoClient(demoToken ?? '')],
  };

  const container = createContainer(configuration, authentication, logger);
  const server = await container.getAsync(ids.server);
  const management = await container.getAsync(ids.managementServer);
  const metrics = await container.getAsync(ids.metrics);
  server.on('drop', () => metrics?.connectionRefused());
  reloadTokensOnHangup(authentication, await container.getAsync(ids.tokenVerifier), logger);
  const stopped = stopOnSignal(configuration, container, logger);

  const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT = 0 } = configuration;
  if (management) await listen(management, 'MANAGEMENT_', MANAGEMENT_HOST, MANAGEMENT_PORT);
  await listen(server, '', HOST, PORT);
  const addresses = { api: addressOf(server), management: management && addressOf(management) };
  announce(configuration, addresses, demoToken, logger);
  for (const line of advice(configuration)) logger.warn(line);
  return stopped;
}

function demoClient(token: string): TokenDigest {
  return { sha256: tokenDigest(token), label: 'demo' };
}

async function listen(server: Server, prefix: string, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    const variables = `${prefix}HOST, ${prefix}PORT`;
    throw new StartError(`${variables}: cannot listen on ${host}:${port} (${reason})`, { cause });
  }
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

interface Addresses {
  readonly api: string;
  readonly management: string | undefined;
}

/** Says where the service is: to a person in lines to read and paste, to a log in one entry. */
function announce(
  configuration: Configuration,
  { api, management }: Addresses,
  demoToken: string | undefined,
  logger: Logger,
): void {
  const storage = storageNote(configuration);
  if (demoToken === undefined && configuration.LOG_FORMAT === 'json') {
    logger.info({ version, address: api, management, storage }, 'listening');
    return;
  }
  const lines = [
    `Plant Store ${version} listens on ${api}`,
    ...(configuration.DOCS === 'on' ? [`Docs: ${api}/docs`] : []),
    `Storage: ${storage}`,
    ...(management === undefined ? [] : [`Metrics: ${management}/metrics`]),
    ...(demoToken === undefined ? [] : demo(configuration, api, demoToken)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function storageNote({ STORAGE, MONGODB_COLLECTION }: Configuration): string {
  switch (STORAGE) {
    case 'memory':
      return 'memory (plants are forgotten on exit)';
    case 'mongodb':
      return `mongodb (collection ${MONGODB_COLLECTION})`;
    default:
      return STORAGE;
  }
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
