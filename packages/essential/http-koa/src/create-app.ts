import Router from '@koa/router';
import type { CreatePlant } from '@plant-store/domain';
import Koa, { type Middleware } from 'koa';
import { createPlant } from './create-plant.js';
import { allowOnly, pathNotFound, respondToFailures } from './respond-to-failures.js';

export interface AppOptions {
  /** The path before `/plants`: empty, or segments such as `/store/v1`. Empty by default. */
  readonly basePath?: string | undefined;
  /** The maximum size of a body in bytes. 16384 by default. */
  readonly bodyLimit?: number;
  /** How long storing a plant may take, in milliseconds. 15000 by default. */
  readonly timeLimitMs?: number;
}

/** What the application calls: the use case, or an object around it. */
export type CreatesPlants = Pick<CreatePlant, 'authorize'>;

/**
 * Creates a Koa application with `POST /plants` (docs/specification.md, "Endpoints").
 *
 * @param around Middleware around all routes, outermost first. None by default.
 * @param routes Other routes, whose failures have the format of the specification, too. None by default.
 */
export function createApp(
  useCase: CreatesPlants,
  options: AppOptions = {},
  around: readonly Middleware[] = [],
  routes: readonly Middleware[] = [],
): Koa {
  const app = new Koa();
  const plants = plantRouter(useCase, options).routes();
  for (const it of [...around, respondToFailures, plants, ...routes, pathNotFound]) app.use(it);
  return app;
}

/** Creates the route alone, for a Koa application of your own. Put it after {@link respondToFailures}. */
export function plantRouter(
  useCase: CreatesPlants,
  { basePath = '', ...limits }: AppOptions = {},
): Router {
  // It compares paths exactly: `/plants/` and `/Plants` are not `/plants`.
  const router = new Router({ prefix: basePath, strict: true, sensitive: true });
  router.post('/plants', createPlant(useCase, limits));
  allowOnly(router, '/plants', 'POST');
  return router;
}
