import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type { default as KoaApplication, Middleware } from 'koa';
import { type Admit, createPlantOperation } from './create-plant/create-plant.js';
import type { DescriptionOptions } from './docs/interface-description.js';
import { docsRoutes } from './docs/serve-docs.js';
import { healthRoutes } from './health-routes.js';
import { plainPath, positiveInteger } from './options.js';
import { createRespond, type Respond } from './request/exchange.js';
import { HttpError } from './request/failures.js';
import type { HttpObserver } from './request/http-observer.js';
import { type Routes, serveRoutes } from './request/routes.js';
import { OwnApp } from './request/send.js';

/** The use case, ports and observer that an application needs. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
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
  /** Whether the interface description and the docs page are served. True by default. */
  readonly docs?: boolean;
}

/**
 * Creates a Koa application with `POST /plants`, the health checks and the docs (docs/specification.md, "Endpoints").
 * Serve it with {@link createServer}, or use its `callback()` in your own server. The README shows an example. Nothing else
 * can change its responses: to add middleware, use {@link plantStoreRoutes} in your own application.
 *
 * @throws {TypeError | RangeError} if an option is invalid; see {@link RoutesOptions}.
 */
export function createApp(
  dependencies: AppDependencies,
  options: RoutesOptions = {},
): KoaApplication {
  return appOf(routesOf(dependencies, options), respondOf(dependencies, options));
}

/** Creates an application that serves routes, and responds to other requests with a failure. */
export function appOf(routes: Routes, respond: Respond): KoaApplication {
  return new OwnApp().use(serveRoutes(routes, respond)).use(respond(refusePath));
}

/**
 * Creates a middleware with the routes of {@link createApp}, for your own Koa application or router. It passes on requests to
 * other paths, and responds through Koa's `ctx.status`, `ctx.set` and `ctx.body`, so your middleware can change every response,
 * even when a plant is stored. Failures of the service are emitted as `error` on your application.
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
  return serveRoutes(routesOf(dependencies, options), respondOf(dependencies, options));
}

function refusePath(): never {
  throw new HttpError('PATH_NOT_FOUND');
}

function respondOf({ observer }: AppDependencies, { maxInFlight = 1000 }: RoutesOptions): Respond {
  return createRespond(observer, positiveInteger('maxInFlight', maxInFlight));
}

function routesOf(dependencies: AppDependencies, options: RoutesOptions): Routes {
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
    ...(options.docs === false ? {} : docsRoutes(options)),
  };
}
