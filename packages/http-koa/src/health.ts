import type Router from '@koa/router';
import type { Middleware } from 'koa';

/**
 * The health checks of load balancers: no token, no secrets.
 *
 * @param check Rejects with the reason why no request would be carried out now.
 */
export function addHealthRoutes(router: Router, check: () => Promise<void>): void {
  router.get('/livez', live());
  router.get('/readyz', ready(check));
}

/** The process serves. Nothing else is asked. */
function live(): Middleware {
  return function live(ctx) {
    ctx.body = { status: 'live' };
    ctx.set('Cache-Control', 'no-store');
  };
}

/** The service would carry out a request now. */
function ready(check: () => Promise<void>): Middleware {
  return async function ready(ctx) {
    await check();
    ctx.body = { status: 'ready' };
    ctx.set('Cache-Control', 'no-store');
  };
}
