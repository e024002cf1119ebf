import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { StaticTokenVerifier } from '@plant-store/token-verifier-static';
import { ContainerModule } from 'inversify';
import { ids } from './application.js';
import type { Settings } from './settings.js';

/** The adapters of the two ports: plants in memory or in MongoDB, and a list of tokens. */
export const adapters = ({ MONGODB_URI, MONGODB_COLLECTION, ACCESS_TOKEN_SHA256 }: Settings) =>
  new ContainerModule(({ bind }) => {
    bind(ids.plantRepository)
      .toDynamicValue(() =>
        MONGODB_URI === undefined
          ? new MemoryPlantRepository()
          : new MongoPlantRepository(MONGODB_URI, MONGODB_COLLECTION),
      )
      .onDeactivation((plants) => plants.close());
    bind(ids.tokenVerifier)
      .toDynamicValue(() => new StaticTokenVerifier(ACCESS_TOKEN_SHA256))
      .onDeactivation((tokens) => tokens.close());
  });
