import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { type CreateLimits, type CreatesPlants, createPlant } from './create-plant.js';
import { allowOnly, pathNotFound, respondToFailures } from './respond-to-failures.js';

export interface AppOptions extends CreateLimits {
  /** The path before `/plants`: empty, or segments such as `/store/v1`. Empty by default. */
  readonly basePath?: string | undefined;
}

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
  // Paths match exactly: `/plants/` and `/Plants` are not `/plants`.
  const router = new Router({ prefix: basePath, strict: true, sensitive: true });
  router.post('/plants', createPlant(useCase, limits));
  allowOnly(router, '/plants', 'POST');
  return router;
}
