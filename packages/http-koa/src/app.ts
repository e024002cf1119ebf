import type Router from '@koa/router';
import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type { Context, default as KoaApplication, Middleware, Next } from 'koa';
import { createPlant } from './create-plant/create-plant.js';
import { serveDocs } from './docs/serve-docs.js';
import type { HttpObserver } from './frame/http-observer.js';
import { InFlight } from './frame/in-flight.js';
import { Koa } from './frame/koa.js';
import { checkedCount, plainPath } from './frame/options.js';
import { respond } from './frame/respond.js';
import { exactRouter, isRouted, serveRoutes } from './frame/routes.js';
import { atOnce, FastKoa, throughKoa } from './frame/send.js';
import { addHealthRoutes } from './health.js';

/** What the application needs from the outside. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Rejects with the reason why a create sent now would be refused. */
  readonly ready: () => Promise<void>;
  readonly observer: HttpObserver;
}

/** How the routes behave. Every member has a default. */
export interface RoutesOptions {
  /** Precedes `/plants`: empty, or segments like `/store/v1`. */
  readonly basePath?: string;
  /** Bytes that a body may have at most. 16384 by default. */
  readonly bodyLimit?: number;
  /** Operations carried out at once, each from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
  /**
   * Milliseconds from the last byte of a request to its response; for a pipelined one, from when its
   * turn comes. 15000 by default.
   */
  readonly requestDeadline?: number;
  /** Whether the interface description and the page to try it from are served. They are by default. */
  readonly docs?: boolean;
}

/** How the application behaves. Every member has a default. */
export interface AppOptions extends RoutesOptions {
  /**
   * Middleware of your own, in front of the routes: it sees every request that is valid HTTP, and every
   * response. What it throws gets the one form of a failure.
   */
  readonly before?: readonly Middleware[];
}

/**
 * `POST /plants`, the health checks and the docs as a Koa application. It listens nowhere and opens
 * nothing. Serve it with `createServer`, or its `callback()` in a server of your own.
 *
 * @throws {TypeError | RangeError} when an option is not what {@link AppOptions} says.
 *
 * Source: docs/specification.md, "Endpoints".
 */
export function createApp(dependencies: AppDependencies, options: AppOptions = {}): KoaApplication {
  const router = plantStoreRouter(dependencies, options);
  return appOf(router, dependencies.observer, options.before);
}

/** An application that serves a router's routes, and responds to every other request with a failure. */
export function appOf(
  router: Router,
  observer: HttpObserver,
  before: readonly Middleware[] = [],
): KoaApplication {
  if (before.length === 0) {
    return new FastKoa().use(respond(observer, atOnce)).use(serveRoutes(router));
  }
  const respondThroughKoa = respond(observer, throughKoa);
  const app = new Koa().use(respondThroughKoa);
  for (const middleware of before) app.use(middleware);
  return app.use(respondThroughKoa).use(serveRoutes(router));
}

/**
 * The same routes as one middleware, for a Koa application of your own. Requests to other paths are
 * passed on; every response goes through Koa's `ctx.status`, `ctx.set` and `ctx.body`.
 *
 * @throws {TypeError | RangeError} when an option is not what {@link RoutesOptions} says.
 */
export function plantStoreRoutes(
  dependencies: AppDependencies,
  options: RoutesOptions = {},
): Middleware {
  const router = plantStoreRouter(dependencies, options);
  const respondThroughKoa = respond(dependencies.observer, throughKoa);
  const routes = serveRoutes(router);
  async function plantStore(ctx: Context, next: Next): Promise<void> {
    if (!isRouted(router, ctx)) return next();
    await respondThroughKoa(ctx, () => routes(ctx, next));
  }
  return Object.assign(plantStore, { router });
}

function plantStoreRouter(dependencies: AppDependencies, options: RoutesOptions): Router {
  const basePath = plainPath('basePath', options.basePath ?? '');
  const router = exactRouter();
  router.post(
    `${basePath}/plants`,
    createPlant({
      useCase: dependencies.createPlant,
      tokenVerifier: dependencies.tokenVerifier,
      inFlight: new InFlight(checkedCount('maxInFlight', options.maxInFlight ?? 1000)),
      bodyLimit: checkedCount('bodyLimit', options.bodyLimit ?? 16_384),
      requestDeadline: checkedCount('requestDeadline', options.requestDeadline ?? 15_000),
    }),
  );
  addHealthRoutes(router, dependencies.ready);
  if (options.docs ?? true) serveDocs(router, basePath);
  return router;
}
