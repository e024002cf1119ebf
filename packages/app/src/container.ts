import 'reflect-metadata';
import type { Server } from 'node:http';
import { CreatePlant, type PlantRepository, type TokenVerifier } from '@plant-store/domain';
import {
  createApp,
  createManagementApp,
  createServer,
  type DrainableServer,
  type HttpObserver,
} from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, type TokenDigest } from '@plant-store/token-verifier-static';
import { Container, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Configuration } from './configuration.js';
import { Health } from './health.js';
import type { Metrics } from './metrics.js';
import { logging, together } from './observers.js';

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** What can be asked of the container. */
export const ids = {
  configuration: id<Configuration>('Configuration'),
  logger: id<Logger>('Logger'),
  tokenDigests: id<readonly TokenDigest[]>('TokenDigests'),
  plantRepository: id<PlantRepository>('PlantRepository'),
  tokenVerifier: id<TokenVerifier>('TokenVerifier'),
  createPlant: id<CreatePlant>('CreatePlant'),
  health: id<Health>('Health'),
  metrics: id<Metrics | undefined>('Metrics'),
  observer: id<HttpObserver>('HttpObserver'),
  server: id<DrainableServer>('Server'),
  managementServer: id<Server | undefined>('ManagementServer'),
};

/**
 * Wires the service, and is the only place that knows every adapter. Everything is made once,
 * when it is first asked for with `getAsync`.
 */
export function createContainer(
  configuration: Configuration,
  tokenDigests: readonly TokenDigest[],
  logger: Logger,
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(ids.configuration).toConstantValue(configuration);
  container.bind(ids.tokenDigests).toConstantValue(tokenDigests);
  container.bind(ids.logger).toConstantValue(logger);
  container.bind(ids.plantRepository).toResolvedValue(() => new MemoryPlantRepository());
  container
    .bind(ids.tokenVerifier)
    .toResolvedValue((digests) => new StaticTokenVerifier(digests), [ids.tokenDigests]);
  container
    .bind(ids.createPlant)
    .toResolvedValue((plants) => new CreatePlant(plants), [ids.plantRepository]);
  container
    .bind(ids.health)
    .toResolvedValue(
      (plants, tokens) => new Health([plants, tokens]),
      [ids.plantRepository, ids.tokenVerifier],
    );
  container.bind(ids.metrics).toResolvedValue(openMetrics, [ids.configuration]);
  container
    .bind(ids.observer)
    .toResolvedValue(
      (log, metrics) => together([logging(log), ...(metrics ? [metrics] : [])]),
      [ids.logger, ids.metrics],
    );
  container
    .bind(ids.server)
    .toResolvedValue(openServer, [
      ids.configuration,
      ids.observer,
      ids.createPlant,
      ids.tokenVerifier,
      ids.health,
    ]);
  container
    .bind(ids.managementServer)
    .toResolvedValue(openManagementServer, [ids.health, ids.metrics, ids.observer]);
  return container;
}

/** What only some configurations need is loaded only for them: it is a good part of the start. */
async function openMetrics(configuration: Configuration): Promise<Metrics | undefined> {
  if (configuration.MANAGEMENT_PORT === undefined) return undefined;
  const { Metrics } = await import('./metrics.js');
  return new Metrics();
}

function openManagementServer(
  health: Health,
  metrics: Metrics | undefined,
  observer: HttpObserver,
): Server | undefined {
  if (metrics === undefined) return undefined;
  return createServer(createManagementApp({ ready: () => health.ready(), metrics, observer }));
}

function openServer(
  configuration: Configuration,
  observer: HttpObserver,
  createPlant: CreatePlant,
  tokenVerifier: TokenVerifier,
  health: Health,
): DrainableServer {
  const app = createApp(
    {
      createPlant,
      tokenVerifier,
      ready: () => health.ready(),
      observer,
    },
    {
      basePath: configuration.BASE_PATH ?? '',
      bodyLimit: configuration.BODY_LIMIT,
      maxInFlight: configuration.MAX_IN_FLIGHT,
      requestDeadline: configuration.REQUEST_DEADLINE_MS,
      docs: configuration.DOCS === 'on',
    },
  );
  return createServer(app, {
    headersTimeout: configuration.HEADERS_TIMEOUT_MS,
    requestTimeout: configuration.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: configuration.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: configuration.MAX_CONNECTIONS,
    observer,
  });
}
