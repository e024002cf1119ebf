import type Router from '@koa/router';
import type { Middleware } from 'koa';

const FRESH_FOR_MS = 1000;

/**
 * The health checks of load balancers: no token, no secrets.
 *
 * @param check Rejects with the reason why no request would be carried out now. Asked at most
 * once a second.
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
  const checkSometimes = atMostOnceASecond(check);
  return async function ready(ctx) {
    await checkSometimes();
    ctx.body = { status: 'ready' };
    ctx.set('Cache-Control', 'no-store');
  };
}

function atMostOnceASecond(check: () => Promise<void>): () => Promise<void> {
  let latest: Promise<void> | undefined;
  let askedAt = 0;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - askedAt >= FRESH_FOR_MS) {
      askedAt = now;
      latest = check();
    }
    return latest;
  };
}
