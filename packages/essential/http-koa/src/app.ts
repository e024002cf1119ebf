import type Router from '@koa/router';
import type { CreatePlant } from '@plant-store/domain';
import type { default as KoaApplication, Middleware } from 'koa';
import {
  type Admit,
  authorize,
  createPlant,
  type RespondWithPlant,
  respondImmediately,
  respondThroughKoa,
} from './create-plant/create-plant.js';
import { readBody } from './create-plant/read-body.js';
import type { DescriptionOptions } from './docs/openapi-description.js';
import { addDocs, addHome } from './docs/serve-docs.js';
import { addHealth } from './health-routes.js';
import { Koa, newRouter } from './koa.js';
import { plainPath, positiveInteger } from './options.js';
import type { HttpObserver } from './request/http-observer.js';
import { observe } from './request/observe.js';
import { allow, pathNotFound, respondToFailures } from './request/respond-to-failures.js';

export interface AppDependencies {
  readonly createPlant: CreatePlant;
  /** Called with the client of each create before its body is read; use it to limit requests per client. None by default. */
  readonly admit?: Admit;
  /**
   * Called for each `/readyz`. Resolves if load balancers should send requests to this instance, otherwise rejects with the
   * reason. The `plant-store` command resolves even during an outage of the database, which another instance would share.
   */
  readonly ready: () => Promise<void>;
  readonly observer: HttpObserver;
}

export interface RoutesOptions extends DescriptionOptions {
  /** The largest body in bytes. 16384 by default. */
  readonly bodyLimit?: number;
  /** The maximum number of operations in progress, each counted from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
  /**
   * The maximum time from the last byte of a request to its response, in milliseconds. For a pipelined request, the time
   * starts after the previous response. 15000 by default.
   */
  readonly requestDeadlineMs?: number;
  /** Whether the OpenAPI description and the docs page are served. True by default. */
  readonly docs?: boolean;
}

/**
 * Creates a Koa application with `POST /plants`, the health checks and the docs (docs/specification.md, "Endpoints").
 * Serve its `callback()` with `createServer` of `@plant-store/http-server`, or in your own server. The README shows an example.
 *
 * @throws {TypeError | RangeError} if an option is invalid; see {@link RoutesOptions}.
 */
export function createApp(
  dependencies: AppDependencies,
  options: RoutesOptions = {},
): KoaApplication {
  const { observer } = dependencies;
  const app = new Koa();
  // The observer receives the failures.
  app.silent = true;
  app.use(observe(observer));
  app.use(respondToFailures(observer));
  const router = newRouter();
  addRoutes(router, dependencies, options, respondImmediately);
  if (options.docs !== false) addHome(router, options);
  app.use(router.routes());
  app.use(pathNotFound);
  return app;
}

/**
 * Creates a middleware with the routes of {@link createApp}, for your own Koa application or router. It passes on requests to
 * other paths. Failures of the service are emitted as `error` on your application.
 *
 * @throws {TypeError | RangeError} if an option is invalid; see {@link RoutesOptions}.
 *
 * @example
 * ```ts
 * import { type AppDependencies, plantStoreRoutes } from '@plant-store/http-koa';
 * import Koa from 'koa';
 *
 * declare const dependencies: AppDependencies; // as for `createApp`
 * const app = new Koa().use(plantStoreRoutes(dependencies, { docs: false }));
 * ```
 */
export function plantStoreRoutes(
  dependencies: AppDependencies,
  options: RoutesOptions = {},
): Middleware {
  const { observer } = dependencies;
  const router = newRouter();
  router.use(observe(observer), respondToFailures(observer));
  addRoutes(router, dependencies, options, respondThroughKoa);
  return router.routes() as Middleware;
}

/**
 * Adds every route but `/`. A create stops at the first check that fails: the token is checked before the body is read, and
 * the load before the body is parsed. The store comes last.
 */
function addRoutes(
  router: Router,
  dependencies: AppDependencies,
  options: RoutesOptions,
  respond: RespondWithPlant,
): void {
  const { basePath = '', bodyLimit = 16_384, docs = true } = options;
  const { maxInFlight = 1000, requestDeadlineMs = 15_000 } = options;
  const limits = {
    maxInFlight: positiveInteger('maxInFlight', maxInFlight),
    requestDeadlineMs: positiveInteger('requestDeadlineMs', requestDeadlineMs),
  };
  const plants = `${plainPath('basePath', basePath)}/plants`;
  router.post(
    plants,
    authorize(dependencies.createPlant, dependencies.admit),
    readBody(positiveInteger('bodyLimit', bodyLimit)),
    createPlant(limits, respond),
  );
  router.all(plants, allow('POST'));
  addHealth(router, dependencies.ready);
  if (docs) addDocs(router, options);
}
