import { application, ids as essential } from '@plant-store/app/application';
import type { TokenVerifier } from '@plant-store/domain';
import {
  corsFor,
  createManagementApp,
  type HttpObserver,
  limited,
  observed,
  operationRoutes,
  refuseWith,
} from '@plant-store/http-operations';
import { createServer, type DrainableServer } from '@plant-store/http-server';
import { type PlantReader, ReadPlants } from '@plant-store/plant-reader';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import type Koa from 'koa';
import { build } from './build.js';
import type { Configuration } from './configuration/configuration.js';
import type { Purpose, Store } from './configuration/stores.js';
import type { ReloadableVerifier } from './configuration/verifiers.js';
import { described } from './described.js';
import { Health } from './health.js';
import { type Log, type LogOutput, openLog } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { type Observer, observe } from './telemetry/observer.js';
import { openBatchTracer } from './telemetry/tracer.js';

export type { Log };

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

export const ids = {
  ...essential,
  /** The chosen store, before it is counted. */
  store: id<Store>('Store'),
  /** The chosen verifier, which may reread its tokens. */
  verifier: id<ReloadableVerifier>('Verifier'),
  /** `undefined` when the store cannot be read. */
  readPlants: id<ReadPlants | undefined>('ReadPlants'),
  server: id<DrainableServer>('Server'),
  /** `undefined` without a management listener. */
  metrics: id<Metrics | undefined>('Metrics'),
  managementServer: id<DrainableServer | undefined>('ManagementServer'),
  logger: id<Log>('Logger'),
  observer: id<Observer>('Observer'),
  health: id<Health>('Health'),
};

/**
 * Wires the service: the application of `@plant-store/app`, other adapters, and what operators need around them. Each object
 * is created once, on the first `getAsync`, so code that a configuration does not need is never loaded. `unbindAsync` closes
 * one object, and `unbindAllAsync` all that are still open, together.
 */
export function createContainer(
  configuration: Configuration,
  output: LogOutput,
  { purpose = 'serve' }: { readonly purpose?: Purpose } = {},
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  const { BASE_PATH: basePath, BODY_LIMIT: bodyLimit } = configuration;
  container.load(
    application({ basePath, bodyLimit, timeLimitMs: configuration.REQUEST_DEADLINE_MS }),
    adapters(configuration, purpose),
    operations(configuration, output),
    servers(configuration),
  );
  return container;
}

/** The adapters that the configuration chooses, instead of those of `@plant-store/app`. */
const adapters = ({ store, verifier }: Configuration, purpose: Purpose) =>
  new ContainerModule(({ bind }) => {
    bind(ids.store)
      .toResolvedValue(
        async (observer) => store.open({ observer, tracer: await openBatchTracer(), purpose }),
        [ids.observer],
      )
      .onDeactivation((plants) => plants.close());
    bind(ids.verifier)
      .toResolvedValue((observer) => verifier.open(observer), [ids.observer])
      .onDeactivation((tokens) => tokens.close());
    bind(ids.plantRepository).toResolvedValue(
      (plants, metrics) => metrics?.counting(plants) ?? plants,
      [ids.store, ids.metrics],
    );
    bind<TokenVerifier>(ids.tokenVerifier).toService(ids.verifier);
    bind(ids.readPlants).toResolvedValue(
      (tokens, plants) => (isReader(plants) ? new ReadPlants(tokens, plants) : undefined),
      [ids.verifier, ids.store],
    );
  });

/** The log, metrics, health, and what surrounds the use case and the application. */
const operations = (configuration: Configuration, output: LogOutput) =>
  new ContainerModule(({ bind, onActivation }) => {
    bind(ids.metrics).toResolvedValue(async () => {
      if (configuration.MANAGEMENT_PORT === undefined) return undefined;
      const { Metrics } = await import('./telemetry/metrics.js');
      return new Metrics(build);
    });
    bind(ids.logger).toResolvedValue(
      (metrics) =>
        openLog(configuration, output, () => metrics?.add('plant_store_log_lines_lost_total')),
      [ids.metrics],
    );
    bind(ids.observer).toResolvedValue(
      (logger, metrics) => observe(logger, metrics, configuration),
      [ids.logger, ids.metrics],
    );
    bind(ids.health)
      .toResolvedValue((plants, tokens) => new Health(plants, tokens), [ids.store, ids.verifier])
      .onDeactivation((health) => health.stop());
    onActivation(ids.createPlant, (_, createPlant) =>
      limited(createPlant, { maxInFlight: configuration.MAX_IN_FLIGHT }),
    );
    bind(ids.around).toResolvedValue(
      async (observer) => {
        const { CORS_ALLOWED_ORIGINS: origins } = configuration;
        return [...(origins ? [await corsFor(origins)] : []), observed(observer)];
      },
      [ids.observer],
    );
    bind(ids.routes).toResolvedValue(
      (health) => {
        const options = { ...described(configuration), docs: configuration.DOCS === 'on' };
        return [operationRoutes(() => health.ready(), options)];
      },
      [ids.health],
    );
  });

/** The servers that the applications run in; they do not listen yet. */
const servers = (configuration: Configuration) =>
  new ContainerModule(({ bind }) => {
    bind(ids.server)
      .toResolvedValue(
        (app, observer, metrics) => openServer(configuration, app, observer, metrics),
        [ids.app, ids.observer, ids.metrics],
      )
      .onDeactivation((server) => server.drain(configuration.SHUTDOWN_TIMEOUT_MS));
    bind(ids.managementServer)
      .toResolvedValue(
        (health, metrics, observer) => metrics && openManagementServer(health, metrics, observer),
        [ids.health, ids.metrics, ids.observer],
      )
      .onDeactivation((server) => server?.drain(0));
  });

function openServer(
  configuration: Configuration,
  app: Koa,
  observer: Observer,
  metrics: Metrics | undefined,
): DrainableServer {
  // The observer receives the failures.
  app.silent = true;
  const server = createServer(app.callback(), {
    headersTimeout: configuration.HEADERS_TIMEOUT_MS,
    requestTimeout: configuration.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: configuration.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: configuration.MAX_CONNECTIONS,
    refuse: refuseWith(observer),
  });
  server.on('drop', () => metrics?.add('plant_store_connections_refused_total'));
  // For the log: after a connection was closed, its address is known only if it was read before.
  return server.on('connection', (socket) => socket.remoteAddress);
}

function openManagementServer(
  health: Health,
  metrics: Metrics,
  observeApi: Observer,
): DrainableServer {
  metrics.addReadiness(() => health.isReady);
  // Requests of operators are not requests of the API: only bugs are reported.
  const observer: HttpObserver = (event) => {
    if (event.type === 'request failed') observeApi(event);
  };
  const app = createManagementApp({ ready: () => health.ready(), metrics, observer });
  return createServer(app.callback(), { refuse: refuseWith(observer) });
}

function isReader(plants: Store): plants is Store & PlantReader {
  return plants.read !== undefined;
}
