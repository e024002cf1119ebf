import 'reflect-metadata/lite';
import { CreatePlant, type PlantReader, ReadPlants, type TokenVerifier } from '@plant-store/domain';
import {
  createApp,
  createManagementApp,
  createServer,
  type DrainableServer,
} from '@plant-store/http-koa';
import { Container, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Configuration } from './configuration/configuration.js';
import type { Store } from './configuration/storages.js';
import type { ConfiguredVerifier, OpenVerifier } from './configuration/verifiers.js';
import { corsFor } from './cors.js';
import { Health } from './health.js';
import { openBatchTracer } from './telemetry/batch-tracer.js';
import { countPlants } from './telemetry/count-plants.js';
import type { Metrics } from './telemetry/metrics.js';
import { type Observer, observe } from './telemetry/observer.js';

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** The identifiers of what the container provides. */
export const ids = {
  configuration: id<Configuration>('Configuration'),
  configuredVerifier: id<ConfiguredVerifier>('ConfiguredVerifier'),
  logger: id<Logger>('Logger'),
  metrics: id<Metrics | undefined>('Metrics'),
  observer: id<Observer>('Observer'),
  plantRepository: id<Store>('PlantRepository'),
  openVerifier: id<OpenVerifier>('OpenVerifier'),
  tokenVerifier: id<TokenVerifier>('TokenVerifier'),
  createPlant: id<CreatePlant>('CreatePlant'),
  /** `undefined` when the storage cannot be read. */
  readPlants: id<ReadPlants | undefined>('ReadPlants'),
  health: id<Health>('Health'),
  server: id<DrainableServer>('Server'),
  managementServer: id<DrainableServer | undefined>('ManagementServer'),
};

/**
 * Wires the service. The adapters come from `storages.ts` and `verifiers.ts`. Everything is created once, at the
 * first `getAsync`, so that code that a configuration does not need is not loaded.
 */
export function createContainer(
  configuration: Configuration,
  verifier: ConfiguredVerifier,
  logger: Logger,
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(ids.configuration).toConstantValue(configuration);
  container.bind(ids.configuredVerifier).toConstantValue(verifier);
  container.bind(ids.logger).toConstantValue(logger);
  container.bind(ids.metrics).toResolvedValue(openMetrics, [ids.configuration]);
  container.bind(ids.observer).toResolvedValue(
    (log, metrics) =>
      observe(log, metrics, {
        storage: configuration.storage.variables,
        verifier: verifier.variables,
      }),
    [ids.logger, ids.metrics],
  );
  container
    .bind(ids.plantRepository)
    .toResolvedValue(openPlantRepository, [ids.configuration, ids.observer, ids.metrics]);
  container
    .bind(ids.openVerifier)
    .toResolvedValue(
      ({ open }, { tokens }) => open(tokens),
      [ids.configuredVerifier, ids.observer],
    );
  container
    .bind(ids.tokenVerifier)
    .toResolvedValue((opened) => opened.verifier, [ids.openVerifier]);
  container
    .bind(ids.createPlant)
    .toResolvedValue((plants) => new CreatePlant(plants), [ids.plantRepository]);
  container
    .bind(ids.readPlants)
    .toResolvedValue(
      (plants) => (isReader(plants) ? new ReadPlants(plants) : undefined),
      [ids.plantRepository],
    );
  container
    .bind(ids.health)
    .toResolvedValue(openHealth, [
      ids.plantRepository,
      ids.tokenVerifier,
      ids.configuration,
      ids.observer,
    ]);
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

async function openPlantRepository(
  configuration: Configuration,
  { storage: observer }: Observer,
  metrics: Metrics | undefined,
): Promise<Store> {
  const tracer = await openBatchTracer();
  const plants = await configuration.storage.open(observer, tracer);
  return metrics === undefined ? plants : countPlants(plants, metrics);
}

function isReader(plants: Store): plants is Store & PlantReader {
  return plants.read !== undefined;
}

function openHealth(
  plantRepository: Store,
  tokenVerifier: TokenVerifier,
  { storage }: Configuration,
  observer: Observer,
): Health {
  const observe = storage.reportsReachability ? undefined : observer.storage;
  return new Health({ plantRepository, tokenVerifier, observer: observe });
}

async function openMetrics(configuration: Configuration): Promise<Metrics | undefined> {
  if (configuration.MANAGEMENT_PORT === undefined) return undefined;
  const { Metrics } = await import('./telemetry/metrics.js');
  return new Metrics();
}

async function openServer(
  configuration: Configuration,
  { http }: Observer,
  createPlant: CreatePlant,
  tokenVerifier: TokenVerifier,
  health: Health,
): Promise<DrainableServer> {
  const app = createApp(
    { createPlant, tokenVerifier, ready: () => health.ready(), observer: http },
    {
      basePath: configuration.BASE_PATH ?? '',
      bodyLimit: configuration.BODY_LIMIT,
      maxInFlight: configuration.MAX_IN_FLIGHT,
      requestDeadlineMs: configuration.REQUEST_DEADLINE_MS,
      docs: configuration.DOCS === 'on',
      before: await corsFor(configuration.CORS_ALLOWED_ORIGINS),
    },
  );
  return createServer(app, {
    headersTimeout: configuration.HEADERS_TIMEOUT_MS,
    requestTimeout: configuration.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: configuration.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: configuration.MAX_CONNECTIONS,
    observer: http,
  });
}

function openManagementServer(
  health: Health,
  metrics: Metrics | undefined,
  { http }: Observer,
): DrainableServer | undefined {
  if (metrics === undefined) return undefined;
  metrics.addReadiness(() => health.isReady);
  return createServer(
    createManagementApp({ ready: () => health.ready(), metrics, observer: http }),
  );
}
