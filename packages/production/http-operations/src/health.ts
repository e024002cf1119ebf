import type Router from '@koa/router';
import {
  allowOnly,
  failures,
  respondWith,
  respondWithJson,
  toFailure,
} from '@plant-store/http-koa';
import type { Middleware } from 'koa';

/** Adds the health checks for load balancers, `/livez` and `/readyz`. They need no token and reveal no secrets. */
export function addHealth(router: Router, check: () => Promise<void>): void {
  router.get('/livez', live).get('/readyz', ready(check));
  for (const path of ['/livez', '/readyz']) allowOnly(router, path, 'HEAD', 'GET');
}

const live: Middleware = (ctx) => {
  respondWithJson(ctx, { status: 'live' });
};

function ready(check: () => Promise<void>): Middleware {
  return async (ctx) => {
    try {
      await check();
    } catch (error) {
      const failure = toFailure(error);
      // Not being ready is not a fault: no `request failed` is reported.
      if (failure !== failures.INTERNAL) return respondWith(ctx, failure);
      throw error;
    }
    respondWithJson(ctx, { status: 'ready' });
  };
}
