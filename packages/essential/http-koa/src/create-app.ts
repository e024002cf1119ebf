import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { type CreateLimits, type CreatesPlants, createPlant } from './create-plant.js';
import { allowOnly, pathNotFound, respondToFailures } from './respond-to-failures.js';

/** Empty, or segments such as `/store/v1`: no pattern of the router, and neither `.` nor `..`, which clients resolve. */
export const BASE_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/;

export interface RouteOptions extends CreateLimits {
  /** The path before `/plants`, which {@link BASE_PATH} matches. Empty by default. */
  readonly basePath?: string | undefined;
}

export interface AppOptions extends RouteOptions {
  /** Middleware around all routes, outermost first. None by default. */
  readonly around?: readonly Middleware[] | undefined;
  /**
   * Other routes, whose failures have the format of the specification, too: they throw `HttpError`, not what `ctx.throw`
   * throws. None by default.
   */
  readonly routes?: readonly Middleware[] | undefined;
}

/**
 * Creates a Koa application with `POST /plants` (docs/specification.md, "Endpoints").
 *
 * @throws {TypeError | RangeError} if an option is invalid.
 */
export function createApp(
  useCase: CreatesPlants,
  { around = [], routes = [], ...options }: AppOptions = {},
): Koa {
  const app = new Koa();
  const plants = plantRouter(useCase, options).routes();
  for (const it of [...around, respondToFailures, plants, ...routes, pathNotFound]) app.use(it);
  return app;
}

/**
 * Creates the route alone, for a Koa application of your own. Put it after {@link respondToFailures}.
 *
 * @throws {TypeError | RangeError} if an option is invalid.
 */
export function plantRouter(
  useCase: CreatesPlants,
  { basePath = '', ...limits }: RouteOptions = {},
): Router {
  if (!BASE_PATH.test(basePath)) {
    throw new TypeError(`basePath must be empty or segments like /store/v1, found '${basePath}'`);
  }
  // Paths match exactly: `/plants/` and `/Plants` are not `/plants`.
  const router = new Router({ prefix: basePath, strict: true, sensitive: true });
  router.post('/plants', createPlant(useCase, limits));
  allowOnly(router, '/plants', 'POST');
  return router;
}
