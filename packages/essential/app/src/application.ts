import 'reflect-metadata';
import { CreatePlant, type PlantRepository, type TokenVerifier } from '@plant-store/domain';
import { type AppOptions, type CreatesPlants, createApp } from '@plant-store/http-koa';
import { ContainerModule, decorate, inject, injectable, type ServiceIdentifier } from 'inversify';
import type Koa from 'koa';

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** The ports, and what is between them. */
export const ids = {
  plantRepository: id<PlantRepository>('PlantRepository'),
  tokenVerifier: id<TokenVerifier>('TokenVerifier'),
  createPlant: id<CreatesPlants>('CreatePlant'),
  app: id<Koa>('App'),
};

// The domain imports nothing, so what Inversify must know about its class is said here.
decorate(injectable(), CreatePlant);
decorate(inject(ids.tokenVerifier), CreatePlant, 0);
decorate(inject(ids.plantRepository), CreatePlant, 1);

/** The use case, and the Koa application that calls it. Whatever the adapters are, this stays. */
export const application = (options: AppOptions) =>
  new ContainerModule(({ bind }) => {
    bind(ids.createPlant).to(CreatePlant);
    bind(ids.app).toResolvedValue(
      (createPlant) => createApp(createPlant, options),
      [ids.createPlant],
    );
  });
