import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { advice, type Configuration } from '../configuration/configuration.js';
import { demoVerifier } from '../configuration/verifiers.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { version } from '../version.js';
import { urlOf } from './address.js';
import type { HangUps } from './hang-ups.js';
import type { Host, Output } from './host.js';
import { reloadTokensOnHangUp } from './reload-tokens.js';
import { StartError } from './start-error.js';
import { close, type Parts, stop } from './stop.js';

/**
 * Runs the service until it is stopped. Resolves with the exit code.
 *
 * @param stopping Resolves with the signal that stops the service, also while it starts.
 * @param hangUps The SIGHUPs at which the service reads the tokens file again.
 */
export async function serve(
  host: Host,
  configuration: Configuration,
  stopping: Promise<string>,
  hangUps: HangUps,
): Promise<number> {
  const logger = await openLogger(configuration, host.stdout);
  const verifier = configuration.verifier ?? demoVerifier();

  const container = createContainer(configuration, verifier, logger);
  const parts = await openParts(container);
  const metrics = await container.getAsync(ids.metrics);
  parts.server.on('drop', () => metrics?.connectionRefused());
  const { reload } = await container.getAsync(ids.openVerifier);
  reloadTokensOnHangUp(hangUps, reload, verifier.variables, logger);

  await listen(configuration, parts);
  announce(host.stdout, configuration, parts, verifier.demoToken, logger);
  for (const line of advice(configuration)) logger.warn(line);
  const signal = await stopping;
  logger.info({ signal }, 'stopping');
  return stop(host, configuration, parts, await container.getAsync(ids.health), logger);
}

async function openParts(container: Container): Promise<Parts> {
  return {
    server: await container.getAsync(ids.server),
    management: await container.getAsync(ids.managementServer),
    tokenVerifier: await container.getAsync(ids.tokenVerifier),
    plantRepository: await container.getAsync(ids.plantRepository),
  };
}

/** Starts to listen. Rejects with {@link StartError} when an address cannot be used, after closing everything. */
async function listen(
  { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT = 0 }: Configuration,
  parts: Parts,
): Promise<void> {
  const { server, management } = parts;
  try {
    if (management) await listenOn(management, 'MANAGEMENT_', MANAGEMENT_HOST, MANAGEMENT_PORT);
    await listenOn(server, '', HOST, PORT);
  } catch (error) {
    await close(parts, 0);
    throw error;
  }
}

/**
 * The most connections that wait to be accepted. Node.js accepts one in each turn of the event loop, and the system
 * resets further ones. Linux allows at most 4,096 by default (`net.core.somaxconn`).
 */
const BACKLOG = 4096;

async function listenOn(server: Server, prefix: string, host: string, port: number): Promise<void> {
  server.listen({ port, host, backlog: BACKLOG });
  try {
    await once(server, 'listening');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    const variables = `${prefix}HOST, ${prefix}PORT`;
    throw new StartError(`${variables}: cannot listen on ${host}:${port} (${reason})`, { cause });
  }
}

function addressOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return urlOf(address, port);
}

/** Reports the addresses of the service: as several lines on a terminal, as one entry in a log. */
function announce(
  stdout: Output,
  configuration: Configuration,
  parts: Parts,
  demoToken: string | undefined,
  logger: Logger,
): void {
  const api = addressOf(parts.server);
  const management = parts.management && addressOf(parts.management);
  const storage = configuration.storage.note;
  if (demoToken === undefined && configuration.LOG_FORMAT === 'json') {
    logger.info({ version, address: api, management, storage }, 'listening');
    return;
  }
  const lines = [
    `Plant Store ${version} listens on ${api}`,
    ...(configuration.DOCS === 'on' ? [`Docs: ${api}/docs`] : []),
    `Storage: ${storage}`,
    ...(management === undefined ? [] : [`Metrics: ${management}/metrics`]),
    ...(demoToken === undefined ? [] : demoLines(configuration, api, demoToken)),
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

function demoLines(configuration: Configuration, address: string, token: string): string[] {
  const url = `${address}${configuration.BASE_PATH ?? ''}/plants`;
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"tropical"}';
  return [
    `Token: ${token} (for this run only; set ACCESS_TOKEN_SHA256 to use your own)`,
    'Create a plant:',
    `curl -sS ${url} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${plant}'`,
  ];
}
