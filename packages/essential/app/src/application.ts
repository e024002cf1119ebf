import 'reflect-metadata';
import { CreatePlant, type PlantRepository, type TokenVerifier } from '@plant-store/domain';
import { type CreatesPlants, createApp, type RouteOptions } from '@plant-store/http-koa';
import { ContainerModule, decorate, inject, injectable, type ServiceIdentifier } from 'inversify';
import type Koa from 'koa';

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** The two ports, and what the application builds on them. */
export const ids = {
  plantRepository: id<PlantRepository>('PlantRepository'),
  tokenVerifier: id<TokenVerifier>('TokenVerifier'),
  createPlant: id<CreatesPlants>('CreatePlant'),
  /** Optional: middleware around the application, and other routes. The essential service has none. */
  around: id<Koa.Middleware[] | undefined>('Around'),
  routes: id<Koa.Middleware[] | undefined>('Routes'),
  app: id<Koa>('App'),
};

// The domain imports nothing, not even decorators, so Inversify learns here what the constructor of `CreatePlant` takes. It
// stores this with reflect-metadata.
decorate(injectable(), CreatePlant);
decorate(inject(ids.tokenVerifier), CreatePlant, 0);
decorate(inject(ids.plantRepository), CreatePlant, 1);

/** The use case and the Koa application that calls it: the same for every choice of adapters. */
export const application = (options: RouteOptions) =>
  new ContainerModule(({ bind }) => {
    bind(ids.createPlant).to(CreatePlant);
    bind(ids.app).toResolvedValue(
      (createPlant, around, routes) => createApp(createPlant, { ...options, around, routes }),
      [
        ids.createPlant,
        { serviceIdentifier: ids.around, optional: true },
        { serviceIdentifier: ids.routes, optional: true },
      ],
    );
  });
