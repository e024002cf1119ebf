import 'reflect-metadata';
import { Container, ContainerModule, decorate, inject, injectable } from 'inversify';
import { MongoClient } from 'mongodb';
import { CreatePlant } from './create-plant.ts';
import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { MongoPlantRepository } from './mongo-plant-repository.ts';
import { StaticTokenVerifier } from './static-token-verifier.ts';

const ids = { plants: Symbol('PlantRepository'), tokens: Symbol('TokenVerifier') };

// The use case imports no library, so Inversify learns here what its constructor takes.
decorate(injectable(), CreatePlant);
decorate(inject(ids.tokens), CreatePlant, 0);
decorate(inject(ids.plants), CreatePlant, 1);

const application = new ContainerModule(({ bind }) => {
  bind(CreatePlant).toSelf();
});

const adapters = (uri?: string) =>
  new ContainerModule(({ bind }) => {
    bind(ids.plants).toDynamicValue(() =>
      uri === undefined
        ? new MemoryPlantRepository()
        : new MongoPlantRepository(new MongoClient(uri).db().collection('plants')),
    );
    bind(ids.tokens).toConstantValue(new StaticTokenVerifier('demo'));
  });

/** The composition root: the only file that knows every adapter. Without a connection string, plants stay in memory. */
export function createContainer(uri?: string): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.load(application, adapters(uri));
  return container;
}
