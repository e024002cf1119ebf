import type Router from '@koa/router';
import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type { default as KoaApplication, Middleware } from 'koa';
import { createPlant } from './create-plant/create-plant.js';
import { serveDocs } from './docs/serve-docs.js';
import { HttpError } from './frame/failures.js';
import type { HttpObserver } from './frame/http-observer.js';
import { InFlight } from './frame/in-flight.js';
import { FastKoa, Koa } from './frame/koa.js';
import { checkedCount, plainPath } from './frame/options.js';
import { atOnce, exchange, respond, throughKoa } from './frame/respond.js';
import { exactRouter, makeMountable, serveRoutes } from './frame/routes.js';
import { addHealthRoutes } from './health.js';

/** The use case, the ports and the observer that an application is made of. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Rejects with the reason when a create would be refused now. */
  readonly ready: () => Promise<void>;
  readonly observer: HttpObserver;
}

/** The options of the routes. Each has a default. */
export interface RoutesOptions {
  /** The path before `/plants`: empty, or segments such as `/store/v1`. Empty by default. */
  readonly basePath?: string;
  /** The largest body in bytes. 16384 by default. */
  readonly bodyLimit?: number;
  /** The most operations carried out at once; each counts from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
  /**
   * The most milliseconds from the last byte of a request to its response. For a pipelined request, they begin
   * after the previous response. 15000 by default.
   */
  readonly requestDeadlineMs?: number;
  /** Whether the interface description and the docs page are served. True by default. */
  readonly docs?: boolean;
}

/**
 * Middleware in front of the routes: a list, or a function that adds it with `app.use`, for middleware that needs the
 * application. A list may have middleware with a state or a context of its own, which is also a `CallableFunction`.
 */
type Before = readonly (Middleware | CallableFunction)[] | ((app: KoaApplication) => void);

/** The options of an application. Each has a default. */
export interface AppOptions extends RoutesOptions {
  /**
   * Middleware in front of the routes. It sees every request that is valid HTTP, and every response. An error
   * that it throws becomes a response in the form of every failure.
   */
  readonly before?: Before;
}

/**
 * Creates a Koa application with `POST /plants`, the health checks and the docs. It opens no port. Serve it with
 * {@link createServer}, or its `callback()` in a server of your own.
 *
 * @throws {TypeError | RangeError} when an option is not as {@link AppOptions} describes it.
 *
 * Source: docs/specification.md, "Endpoints".
 */
export function createApp(dependencies: AppDependencies, options: AppOptions = {}): KoaApplication {
  const router = plantStoreRouter(dependencies, options);
  return appOf(router, dependencies.observer, options.before);
}

/** Creates an application that serves the routes of a router, and responds to other requests with a failure. */
export function appOf(router: Router, observer: HttpObserver, before: Before = []): KoaApplication {
  const isAlone = before.length === 0 && typeof before !== 'function';
  const app = isAlone ? new FastKoa() : new Koa();
  const send = isAlone ? atOnce : throughKoa;
  app.use(exchange(observer, send));
  if (typeof before === 'function') before(app);
  else for (const middleware of before) app.use(middleware as Middleware);
  const routes = serveRoutes(router);
  const inside = respond(observer, send, (ctx) => routes(ctx, refusePath));
  app.use(Object.assign(inside, { router }));
  return app;
}

/**
 * Creates a middleware with the routes of {@link createApp}, for a Koa application or a router of your own. It passes
 * on requests to other paths, and responds through Koa's `ctx.status`, `ctx.set` and `ctx.body`.
 *
 * @throws {TypeError | RangeError} when an option is not as {@link RoutesOptions} describes it.
 */
export function plantStoreRoutes(
  dependencies: AppDependencies,
  options: RoutesOptions = {},
): Middleware {
  const { observer } = dependencies;
  const router = plantStoreRouter(dependencies, options);
  const outside = exchange(observer, throughKoa);
  makeMountable(router, (handle) => {
    const inside = respond(observer, throughKoa, handle);
    return (ctx, next) => outside(ctx, (own) => inside(own, next));
  });
  return serveRoutes(router);
}

async function refusePath(): Promise<never> {
  throw new HttpError('PATH_NOT_FOUND');
}

function plantStoreRouter(dependencies: AppDependencies, options: RoutesOptions): Router {
  const basePath = plainPath('basePath', options.basePath ?? '');
  const bodyLimit = checkedCount('bodyLimit', options.bodyLimit ?? 16_384);
  const shared = {
    tokenVerifier: dependencies.tokenVerifier,
    inFlight: new InFlight(checkedCount('maxInFlight', options.maxInFlight ?? 1000)),
    requestDeadlineMs: checkedCount('requestDeadlineMs', options.requestDeadlineMs ?? 15_000),
  };
  const router = exactRouter();
  const useCase = dependencies.createPlant;
  router.post(`${basePath}/plants`, createPlant({ ...shared, useCase, bodyLimit }));
  addHealthRoutes(router, dependencies.ready);
  if (options.docs ?? true) serveDocs(router, basePath);
  return router;
}
