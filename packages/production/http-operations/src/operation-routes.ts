import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { DescriptionOptions } from './docs/openapi-description.js';
import { addDocs, addHome } from './docs/serve-docs.js';
import { addHealth } from './health.js';

/**
 * Called for each `/readyz`. Resolves if load balancers should send requests to this instance, otherwise rejects with the
 * reason. The `plant-store` command resolves even during an outage of the database, which another instance would share.
 */
export type Readiness = () => Promise<void>;

export interface OperationsOptions extends DescriptionOptions {
  /** Whether the OpenAPI description and the docs page are served. True by default. */
  readonly docs?: boolean;
}

/** Creates the routes for operators and readers: health checks, the OpenAPI description and its page. */
export function operationRoutes(ready: Readiness, options: OperationsOptions = {}): Middleware {
  const router = newRouter();
  addOperations(router, ready, options);
  if (options.docs !== false) addHome(router, options);
  return router.routes() as Middleware;
}

/** Adds these routes to a router, without the home page. */
export function addOperations(router: Router, ready: Readiness, options: OperationsOptions): void {
  addHealth(router, ready);
  if (options.docs !== false) addDocs(router, options);
}

/** Creates a router whose paths match exactly: `/livez/` and `/Livez` are not `/livez`. */
export function newRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}
