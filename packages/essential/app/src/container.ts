import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { parseTokensList, StaticTokenVerifier } from '@plant-store/token-verifier-static';
import { Container, ContainerModule } from 'inversify';
import { application, ids } from './application.js';
import type { Settings } from './settings.js';

/** The adapters: plants in memory or in MongoDB, and tokens from a list. */
const adapters = ({ MONGODB_URI, MONGODB_COLLECTION, ACCESS_TOKEN_SHA256 }: Settings) =>
  new ContainerModule(({ bind }) => {
    bind(ids.plantRepository)
      .toDynamicValue(() =>
        MONGODB_URI === undefined
          ? new MemoryPlantRepository()
          : new MongoPlantRepository(MONGODB_URI, MONGODB_COLLECTION),
      )
      .onDeactivation((plants) => plants.close());
    bind(ids.tokenVerifier)
      .toDynamicValue(() => new StaticTokenVerifier(parseTokensList(ACCESS_TOKEN_SHA256)))
      .onDeactivation((tokens) => tokens.close());
  });

/** Wires the service. `unbindAllAsync` closes its adapters. */
export function createContainer(settings: Settings): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  const { BASE_PATH: basePath, BODY_LIMIT: bodyLimit, TIME_LIMIT_MS: timeLimitMs } = settings;
  container.load(application({ basePath, bodyLimit, timeLimitMs }), adapters(settings));
  return container;
}
