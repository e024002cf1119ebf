import type Router from '@koa/router';
import { failures, toFailure } from './frame/failures.js';
import type { Handler } from './frame/respond.js';
import { failureResponse, jsonResponse } from './frame/response.js';

/** The service is stopping and accepts no more requests. */
export class StoppingError extends Error {
  override readonly name = 'StoppingError';
  readonly code = 'STOPPING';
}

/**
 * Adds the health checks for load balancers, `/livez` and `/readyz`. They need no token and reveal no secrets.
 *
 * @param check Rejects with the reason when a create would be refused now.
 */
export function addHealthRoutes(router: Router, check: () => Promise<void>): void {
  router.get('/livez', live);
  router.get('/readyz', ready(check));
}

/** Responds with 200 whenever the process can respond. */
const live: Handler = (ctx) => {
  ctx.plantStore.response = jsonResponse(200, '{"status":"live"}');
};

/** The response that the service is not ready is no fault, so it is not reported. */
function ready(check: () => Promise<void>): Handler {
  return async function ready(ctx) {
    try {
      await check();
      ctx.plantStore.response = jsonResponse(200, '{"status":"ready"}');
    } catch (error) {
      const failure = toFailure(error);
      if (failure === failures.INTERNAL) throw error;
      ctx.plantStore.response = failureResponse(failure);
    }
  };
}
