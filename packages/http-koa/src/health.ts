import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { failures, toFailure } from './frame/failures.js';
import type { PlantStoreState } from './frame/request-state.js';
import { failureResponse, jsonResponse } from './frame/response.js';

/** The service is stopping: it takes no more requests. */
export class StoppingError extends Error {
  override readonly name = 'StoppingError';
  readonly code = 'STOPPING';
}

/**
 * The health checks of load balancers: no token, no secrets.
 *
 * @param check Rejects with the reason why a create sent now would be refused.
 */
export function addHealthRoutes(router: Router, check: () => Promise<void>): void {
  router.get('/livez', live());
  router.get('/readyz', ready(check));
}

/** The process serves. Nothing else is asked. */
function live(): Middleware<PlantStoreState> {
  return function live(ctx) {
    ctx.state.plantStore.response = jsonResponse(200, { status: 'live' });
  };
}

/** That the service is not ready is a response too, no failure to report. */
function ready(check: () => Promise<void>): Middleware<PlantStoreState> {
  return async function ready(ctx) {
    try {
      await check();
      ctx.state.plantStore.response = jsonResponse(200, { status: 'ready' });
    } catch (error) {
      const failure = toFailure(error);
      if (failure === failures.INTERNAL) throw error;
      ctx.state.plantStore.response = failureResponse(failure);
    }
  };
}
