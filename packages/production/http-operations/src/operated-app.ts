import {
  type AppOptions,
  type CreatesPlants,
  plantRouter,
  respondToFailures,
} from '@plant-store/http-koa';
import type { default as KoaApplication, Middleware } from 'koa';
import type { DescriptionOptions } from './docs/openapi-description.js';
import { addDocs, addHome } from './docs/serve-docs.js';
import { addHealth } from './health-routes.js';
import { hostedBody } from './hosted-body.js';
import type { HttpObserver } from './http-observer.js';
import { Koa, newRouter } from './koa.js';
import { type Limits, limited } from './limited.js';
import { observe } from './observe.js';
import { plainPath, positiveInteger } from './options.js';

export interface Operations {
  /**
   * Called for each `/readyz`. Resolves if load balancers should send requests to this instance, otherwise rejects with the
   * reason. The `plant-store` command resolves even during an outage of the database, which another instance would share.
   */
  readonly ready: () => Promise<void>;
  readonly observer: HttpObserver;
}

export interface OperationsOptions extends DescriptionOptions {
  /** Whether the OpenAPI description and the docs page are served. True by default. */
  readonly docs?: boolean;
}

/**
 * Surrounds the application of `createApp` with request ids, reports to the observer, health checks and the docs. Serve its
 * `callback()` with `createServer` of `@plant-store/http-server`, or in your own server.
 */
export function operatedApp(
  plantStore: Pick<KoaApplication, 'middleware'>,
  { ready, observer }: Operations,
  options: OperationsOptions = {},
): KoaApplication {
  const app = new Koa();
  // The observer receives the failures.
  app.silent = true;
  app.use(observe(observer));
  app.use(respondToFailures);
  const router = newRouter();
  addHealth(router, ready);
  if (options.docs !== false) {
    addDocs(router, options);
    addHome(router, options);
  }
  app.use(router.routes() as Middleware);
  for (const middleware of plantStore.middleware) app.use(middleware as Middleware);
  return app;
}

export interface RoutesDependencies extends Operations, Pick<Limits, 'admit'> {
  readonly createPlant: CreatesPlants;
}

export interface RoutesOptions extends OperationsOptions, AppOptions, Pick<Limits, 'maxInFlight'> {}

/**
 * Creates a middleware with all routes, for your own Koa application or router. It passes on requests to other paths.
 * Failures of the service are emitted as `error` on your application.
 */
export function plantStoreRoutes(
  { createPlant, admit, ready, observer }: RoutesDependencies,
  options: RoutesOptions = {},
): Middleware {
  expectValid(options);
  const router = newRouter();
  router.use(observe(observer), respondToFailures);
  addHealth(router, ready);
  if (options.docs !== false) addDocs(router, options);
  const limits = { ...options, ...(admit && { admit }) };
  router.use(
    hostedBody(options.bodyLimit),
    plantRouter(limited(createPlant, limits), options).routes() as Middleware,
  );
  return router.routes() as Middleware;
}

/** @throws {TypeError | RangeError} if an option is invalid. */
function expectValid({ basePath = '', ...limits }: RoutesOptions): void {
  plainPath('basePath', basePath);
  for (const name of ['bodyLimit', 'maxInFlight', 'timeLimitMs'] as const) {
    positiveInteger(name, limits[name] ?? 1);
  }
}
