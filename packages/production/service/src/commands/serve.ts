import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Container } from 'inversify';
import { build } from '../build.js';
import { advice, type Configuration } from '../configuration/configuration.js';
import { ConfigurationError } from '../configuration/setting.js';
import { createContainer, ids, type Log } from '../container.js';
import { sentenceOf } from '../messages/wording.js';
import { type Output, type OwnProcess, StartError, urlOf } from './own-process.js';

/** What happens to the process, from its beginning on. */
export interface ProcessEvents {
  /** Aborts when the service must stop. */
  readonly stopping: AbortController;
  /** What Node.js warns about. */
  readonly warnings: AsyncIterable<readonly unknown[]>;
  /** Each signal to read the tokens file again; `undefined` without one. */
  readonly rereads: AsyncIterable<unknown> | undefined;
}

/** Runs the service until `stopping` aborts, even during startup. Resolves with the exit code. */
export async function serve(
  process: OwnProcess,
  configuration: Configuration,
  { stopping, warnings, rereads }: ProcessEvents,
): Promise<number> {
  const container = createContainer(configuration, process.stdout);
  const logger = await container.getAsync(ids.logger);
  void logAll(warnings, logger);
  try {
    const { variables } = configuration.verifier;
    const { reload } = await container.getAsync(ids.verifier);
    if (reload && rereads) void rereadTokens(rereads, reload, variables, logger);
    const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT = 0 } = configuration;
    const server = await container.getAsync(ids.server);
    const managementServer = await container.getAsync(ids.managementServer);
    const management =
      managementServer &&
      (await listen(managementServer, 'MANAGEMENT_', MANAGEMENT_HOST, MANAGEMENT_PORT));
    const api = await listen(server, '', HOST, PORT);
    announce(process.stdout, configuration, { api, management }, logger);
    for (const line of advice(configuration)) logger.warn(line);
    const { signal } = stopping;
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({ signal: signal.reason }, 'stopping');
    (await container.getAsync(ids.health)).stop();
    await wait(configuration.SHUTDOWN_DELAY_MS);
  } finally {
    await close(container);
  }
  logger.info('stopped');
  return 0;
}

/** Closes everything the container opened: the server after its last response, then what the responses depended on. */
async function close(container: Container): Promise<void> {
  await container.unbindAsync(ids.server);
  await container.unbindAllAsync();
}

async function logAll(warnings: AsyncIterable<readonly unknown[]>, logger: Log): Promise<void> {
  for await (const [err] of warnings) logger.warn({ err }, 'Node.js warning');
}

/** Reads the tokens again on each signal. If the new ones are invalid, the old ones stay accepted. */
async function rereadTokens(
  rereads: AsyncIterable<unknown>,
  reload: () => number,
  variables: string | undefined,
  logger: Log,
): Promise<void> {
  for await (const _ of rereads) {
    try {
      logger.info({ variables, tokens: reload() }, 'SIGHUP: the tokens were read again');
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const { problems } = error;
      logger.error({ problems }, 'SIGHUP: the new tokens are invalid; still using the old ones');
    }
  }
}

/** Starts to listen. Resolves with the URL. Rejects with {@link StartError} when the address cannot be used. */
async function listen(server: Server, prefix: string, host: string, port: number) {
  // Node.js accepts one connection in each turn of the event loop, and the system resets connections beyond this backlog.
  // Linux allows at most 4,096 by default (`net.core.somaxconn`).
  server.listen({ port, host, backlog: 4096 });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new StartError(listenProblem(cause, prefix, host, port), { cause });
  }
  const listening = server.address() as AddressInfo;
  return urlOf(listening.address, listening.port);
}

function listenProblem(cause: unknown, prefix: string, host: string, port: number): string {
  const { code } = cause as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return `${prefix}PORT: port ${port} on ${host} is taken (${code}). Stop the process that uses it, or set ${prefix}PORT to a free port`;
    case 'EACCES':
      return `${prefix}PORT: the system does not permit port ${port} (${code}). Set ${prefix}PORT to 1024 or above`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${prefix}HOST: ${host} is not an address of this machine (${code}). Set ${prefix}HOST to 127.0.0.1, or to 0.0.0.0 for every address`;
    default:
      return `${prefix}HOST, ${prefix}PORT: cannot listen on ${host}:${port} (${sentenceOf(cause)})`;
  }
}

/** Reports the addresses of the service in the format of the log: as text for people, or as JSON. */
function announce(
  stdout: Output,
  configuration: Configuration,
  { api, management }: { readonly api: string; readonly management: string | undefined },
  logger: Log,
): void {
  const store = configuration.store.note;
  const { demoToken } = configuration;
  const curl = demoToken && curlOf(configuration, api, demoToken);
  if (configuration.LOG_FORMAT === 'json') {
    logger.info({ ...build, url: api, management, store }, 'listening');
    if (demoToken) logger.warn({ token: demoToken, curl }, `generated a token ${FOR_THIS_RUN}`);
    return;
  }
  const lines = [
    `Plant Store ${build.version} listens on ${api}`,
    ...(configuration.DOCS === 'on' ? [`Docs: ${api}/docs`] : []),
    `Store: ${store}`,
    ...(management === undefined ? [] : [`Metrics: ${management}/metrics`]),
    ...(curl ? [`Token: ${demoToken} (${FOR_THIS_RUN})`, 'Create a plant:', curl] : []),
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

const FOR_THIS_RUN = 'for this run only; set ACCESS_TOKEN_SHA256 to use your own';

function curlOf({ BASE_PATH = '' }: Configuration, address: string, token: string): string {
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"tropical"}';
  return `curl -sS ${address}${BASE_PATH}/plants -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${plant}'`;
}
