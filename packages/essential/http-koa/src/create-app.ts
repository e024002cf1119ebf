import Router from '@koa/router';
import type { CreatePlant } from '@plant-store/domain';
import Koa from 'koa';
import { authorize, createPlant, ifWanted } from './create-plant.js';
import { readNewPlant } from './new-plant-body.js';
import { allow, pathNotFound, respondToFailures } from './respond-to-failures.js';

export interface AppOptions {
  /** The path before `/plants`: empty, or segments such as `/store/v1`. Empty by default. */
  readonly basePath?: string | undefined;
  /** The largest body in bytes. 16384 by default. */
  readonly bodyLimit?: number;
  /** How long storing a plant may take, in milliseconds. 15000 by default. */
  readonly timeLimitMs?: number;
}

/** What the application calls: the use case, or what surrounds it. */
export type CreatesPlants = Pick<CreatePlant, 'authorize'>;

/** Creates a Koa application with `POST /plants` (docs/specification.md, "Endpoints"). */
export function createApp(useCase: CreatesPlants, options: AppOptions = {}): Koa {
  const app = new Koa();
  app.use(respondToFailures);
  app.use(plantRouter(useCase, options).routes());
  app.use(pathNotFound);
  return app;
}

/** Creates the route alone, for a Koa application of your own. Put it after {@link respondToFailures}. */
export function plantRouter(
  useCase: CreatesPlants,
  { basePath = '', bodyLimit = 16_384, timeLimitMs = 15_000 }: AppOptions = {},
): Router {
  // It compares paths exactly: `/plants/` and `/Plants` are not `/plants`.
  const router = new Router({ prefix: basePath, strict: true, sensitive: true });
  // The token is checked before the body is read. The store comes last.
  router.post(
    '/plants',
    authorize(useCase),
    ifWanted,
    ...readNewPlant(bodyLimit),
    ifWanted,
    createPlant(timeLimitMs),
  );
  router.all('/plants', allow('POST'));
  return router;
}
