import 'reflect-metadata';
import { Container, decorate, inject, injectable } from 'inversify';
import { MongoClient } from 'mongodb';
import { CreatePlant } from './create-plant.ts';
import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { MongoPlantRepository } from './mongo-plant-repository.ts';
import { StaticTokenVerifier } from './static-token-verifier.ts';

const ports = { plants: Symbol('PlantRepository'), tokens: Symbol('TokenVerifier') };

// The use case imports nothing, so what Inversify must know about it is said here.
decorate(injectable(), CreatePlant);
decorate(inject(ports.tokens), CreatePlant, 0);
decorate(inject(ports.plants), CreatePlant, 1);

/** The composition root: the only file that knows every adapter. Without a connection string, plants stay in memory. */
export function createContainer(uri?: string): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(CreatePlant).toSelf();
  container.bind(ports.tokens).toConstantValue(new StaticTokenVerifier('demo'));
  if (uri === undefined) {
    container.bind(ports.plants).toConstantValue(new MemoryPlantRepository());
  } else {
    const plants = new MongoClient(uri).db().collection<{ _id: number }>('plants');
    container.bind(ports.plants).toConstantValue(new MongoPlantRepository(plants));
  }
  return container;
}
