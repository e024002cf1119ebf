import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type { default as KoaApplication, Middleware } from 'koa';
import { type Admit, createPlantOperation } from './create-plant/create-plant.js';
import type { Build } from './docs/interface-description.js';
import { docsRoutes } from './docs/serve-docs.js';
import { healthRoutes } from './health.js';
import { plainPath, positiveInteger } from './options.js';
import { Exchanges } from './request/exchange.js';
import { HttpError } from './request/failures.js';
import type { HttpObserver } from './request/http-observer.js';
import { FastKoa, Koa } from './request/own-request.js';
import { type Routes, serveRoutes } from './request/routes.js';

/** The use case, the ports and the observer that an application is made of. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Called with the client of each create before its body is read: the place for a limit per client. None by default. */
  readonly admit?: Admit;
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
  /** The build that the interface description names. None by default. */
  readonly build?: Build;
}

/** A list, also of middleware with a state or a context of its own, or a function for what needs the application. */
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
 * Creates a Koa application with `POST /plants`, the health checks and the docs (docs/specification.md, "Endpoints").
 * Serve it with {@link createServer}, or its `callback()` in a server of your own. The README has an example.
 *
 * @throws {TypeError | RangeError} when an option is not as {@link AppOptions} describes it.
 */
export function createApp(dependencies: AppDependencies, options: AppOptions = {}): KoaApplication {
  const routes = plantStoreRoutesOf(dependencies, options);
  return appOf(routes, dependencies.observer, options.before, maxInFlight(options));
}

/** Creates an application that serves routes, and responds to other requests with a failure. */
export function appOf(
  routes: Routes,
  observer: HttpObserver,
  before: Before = [],
  maxInFlight = Number.POSITIVE_INFINITY,
): KoaApplication {
  const isAlone = typeof before !== 'function' && before.length === 0;
  const app = isAlone ? new FastKoa() : new Koa();
  const { track, respond, trackAndRespond } = new Exchanges(observer, maxInFlight, app);
  if (!isAlone) app.use(track);
  if (typeof before === 'function') before(app);
  else for (const middleware of before) app.use(middleware as Middleware);
  const step = isAlone ? trackAndRespond : respond;
  return app.use(serveRoutes(routes, step)).use(step(refusePath));
}

/**
 * Creates a middleware with the routes of {@link createApp}, for a Koa application or a router of your own. It passes
 * on requests to other paths, and responds through Koa's `ctx.status`, `ctx.set` and `ctx.body`. It emits failures of
 * the service as `error` on your application.
 *
 * @throws {TypeError | RangeError} when an option is not as {@link RoutesOptions} describes it.
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
  const { trackAndRespond } = new Exchanges(dependencies.observer, maxInFlight(options));
  return serveRoutes(plantStoreRoutesOf(dependencies, options), trackAndRespond);
}

function refusePath(): never {
  throw new HttpError('PATH_NOT_FOUND');
}

function maxInFlight({ maxInFlight = 1000 }: RoutesOptions): number {
  return positiveInteger('maxInFlight', maxInFlight);
}

function plantStoreRoutesOf(dependencies: AppDependencies, options: RoutesOptions): Routes {
  const { createPlant: useCase, tokenVerifier, admit, ready } = dependencies;
  const basePath = plainPath('basePath', options.basePath ?? '');
  const bodyLimit = positiveInteger('bodyLimit', options.bodyLimit ?? 16_384);
  const requestDeadlineMs = positiveInteger(
    'requestDeadlineMs',
    options.requestDeadlineMs ?? 15_000,
  );
  const shared = { tokenVerifier, admit, requestDeadlineMs };
  return {
    [`${basePath}/plants`]: { POST: createPlantOperation({ ...shared, useCase, bodyLimit }) },
    ...healthRoutes(ready),
    ...(options.docs === false ? {} : docsRoutes(basePath, options.build)),
  };
}
