import {
  type CreatesPlants,
  plantRouter,
  type RouteOptions,
  respondToFailures,
} from '@plant-store/http-koa';
import type { Middleware } from 'koa';
import { hostedBody } from './hosted-body.js';
import type { HttpObserver } from './http-event.js';
import { type Limits, limited } from './limited.js';
import { observed } from './observed.js';
import {
  addOperations,
  newRouter,
  type OperationsOptions,
  type Readiness,
} from './operation-routes.js';

export interface RoutesDependencies extends Pick<Limits, 'admit'> {
  readonly createPlant: CreatesPlants;
  readonly ready: Readiness;
  readonly observer: HttpObserver;
}

export interface RoutesOptions
  extends OperationsOptions,
    RouteOptions,
    Pick<Limits, 'maxInFlight'> {}

/**
 * Creates a middleware with all routes, for your own Koa application or router. It passes on requests to other paths.
 * Failures of the service are emitted as `error` on your application.
 *
 * @throws {TypeError | RangeError} if an option is invalid.
 */
export function plantStoreRoutes(
  { createPlant, admit, ready, observer }: RoutesDependencies,
  options: RoutesOptions = {},
): Middleware {
  const router = newRouter();
  router.use(observed(observer), respondToFailures);
  addOperations(router, ready, options);
  const limits = { ...options, ...(admit && { admit }) };
  const plants = plantRouter(limited(createPlant, limits), options).routes();
  router.use(hostedBody, plants as Middleware);
  return router.routes() as Middleware;
}
