import { createRequire } from 'node:module';
import Router from '@koa/router';
import type { CreatePlant } from '@plant-store/domain';
import type { default as KoaApplication, Middleware } from 'koa';
import { type Admit, authorize } from './create-plant/authorize.js';
import { createPlant } from './create-plant/create-plant.js';
import { readBody } from './create-plant/read-body.js';
import type { DescriptionOptions } from './docs/openapi-description.js';
import { addDocs } from './docs/serve-docs.js';
import { addHealth } from './health-routes.js';
import { plainPath, positiveInteger } from './options.js';
import { HttpError } from './request/failures.js';
import type { HttpObserver } from './request/http-observer.js';
import { observe, type RequestState } from './request/observe.js';
import { allow, respondToFailures } from './request/respond-to-failures.js';

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
const Koa: typeof KoaApplication = createRequire(import.meta.url)('koa');

/** The use case and observer that an application needs. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  /** Called with the client of each create before its body is read; use it to limit requests per client. None by default. */
  readonly admit?: Admit;
  /** Resolves if a create would be accepted now; otherwise rejects with the reason. */
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

type PlantRouter = Router<RequestState>;

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
  const [operations, others] = [newRouter(), newRouter()];
  addCreatePlant(operations, dependencies, options);
  addOthers(others, dependencies, options);
  // In two routers, because each compares a request with all its routes.
  return appOf([operations, others], dependencies.observer);
}

/** Creates an application that serves routes, and responds to other requests with a failure. */
export function appOf(routers: readonly PlantRouter[], observer: HttpObserver): KoaApplication {
  const app = new Koa<RequestState>();
  // The observer receives the failures.
  app.silent = true;
  app.use(observe(observer)).use(respondToFailures(observer));
  for (const router of routers) app.use(router.routes());
  app.use(() => {
    throw new HttpError('PATH_NOT_FOUND');
  });
  return app as unknown as KoaApplication;
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
  const router = newRouter().use(observe(observer), respondToFailures(observer));
  addCreatePlant(router, dependencies, options);
  addOthers(router, dependencies, options);
  return router.routes() as unknown as Middleware;
}

/** Compares paths exactly: `/plants/` and `/Plants` are not `/plants`. */
export function newRouter(): PlantRouter {
  return new Router({ strict: true, sensitive: true });
}

/**
 * Adds `POST /plants`, which stops at the first check that fails: the token before the body is read, the load before it is
 * parsed. The database comes last.
 */
function addCreatePlant(
  router: PlantRouter,
  { createPlant: useCase, admit }: AppDependencies,
  {
    basePath = '',
    bodyLimit = 16_384,
    maxInFlight = 1000,
    requestDeadlineMs = 15_000,
  }: RoutesOptions,
): void {
  const limits = {
    maxInFlight: positiveInteger('maxInFlight', maxInFlight),
    requestDeadlineMs: positiveInteger('requestDeadlineMs', requestDeadlineMs),
  };
  router.post(
    `${plainPath('basePath', basePath)}/plants`,
    authorize(useCase, admit),
    readBody(positiveInteger('bodyLimit', bodyLimit)),
    createPlant(limits),
  );
}

function addOthers(router: PlantRouter, { ready }: AppDependencies, options: RoutesOptions): void {
  router.all(`${options.basePath ?? ''}/plants`, allow('POST'));
  addHealth(router, ready);
  if (options.docs !== false) addDocs(router, options);
}
