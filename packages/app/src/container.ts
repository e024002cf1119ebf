import 'reflect-metadata';
import type { Server } from 'node:http';
import { CreatePlant, type PlantRepository, type TokenVerifier } from '@plant-store/domain';
import { createApp, createServer } from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, type TokenDigest } from '@plant-store/token-verifier-static';
import { Container, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Configuration } from './configuration.js';
import { Health } from './health.js';

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
  server: id<Server>('Server'),
};

/**
 * Wires the service, and is the only place that knows every adapter. Everything is made once,
 * when it is first asked for.
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
  container
    .bind(ids.server)
    .toResolvedValue(openServer, [
      ids.configuration,
      ids.logger,
      ids.createPlant,
      ids.tokenVerifier,
      ids.health,
    ]);
  return container;
}

function openServer(
  configuration: Configuration,
  logger: Logger,
  createPlant: CreatePlant,
  tokenVerifier: TokenVerifier,
  health: Health,
): Server {
  const app = createApp(
    {
      createPlant,
      tokenVerifier,
      ready: () => health.ready(),
      report: ({ requestId, error, cause }) => {
        logger.error({ requestId, error, err: cause }, 'a request failed');
      },
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
  });
}
