import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import type Koa from 'koa';
import { createPlant } from './create-plant/create-plant.js';
import { serveDocs } from './docs/serve-docs.js';
import type { HttpObserver } from './frame/http-observer.js';
import { plainPath, wholeNumber } from './frame/options.js';
import { exactRouter, serveRoutes } from './frame/routes.js';
import { addHealthRoutes } from './health.js';

/** What the application needs from the outside. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Rejects with the reason why no request would be carried out now. */
  readonly ready: () => Promise<void>;
  readonly observer: HttpObserver;
}

/** How the application behaves. Every member has a default. */
export interface AppOptions {
  /** Stands before `/plants`: empty, or segments like `/store/v1`. */
  readonly basePath?: string;
  /** Bytes a body may have at most. 16384 by default. */
  readonly bodyLimit?: number;
  /** Operations worked on at once, each from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
  /**
   * Milliseconds from the last byte of a request to its answer; for a pipelined one, from when its
   * turn comes. 15000 by default.
   */
  readonly requestDeadline?: number;
  /** Whether the interface description and the page to try it from are served. They are by default. */
  readonly docs?: boolean;
}

/**
 * `POST /plants`, the health checks and the docs as a Koa application. It listens nowhere and opens
 * nothing. Serve it with `createServer`, or mount its `callback()` in a server of your own.
 *
 * @throws {TypeError | RangeError} when an option is not what {@link AppOptions} says.
 *
 * Source: specification, "Endpoints".
 */
export function createApp(dependencies: AppDependencies, options: AppOptions = {}): Koa {
  const basePath = plainPath('basePath', options.basePath ?? '');
  const router = exactRouter();
  router.post(
    `${basePath}/plants`,
    createPlant({
      useCase: dependencies.createPlant,
      tokenVerifier: dependencies.tokenVerifier,
      bodyLimit: wholeNumber('bodyLimit', options.bodyLimit ?? 16_384),
      maxInFlight: wholeNumber('maxInFlight', options.maxInFlight ?? 1000),
      requestDeadline: wholeNumber('requestDeadline', options.requestDeadline ?? 15_000),
    }),
  );
  addHealthRoutes(router, dependencies.ready);
  if (options.docs ?? true) serveDocs(router, basePath);
  return serveRoutes(router, dependencies.observer);
}
