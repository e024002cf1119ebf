import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { failures, toFailure } from './frame/failures.js';
import type { RequestState } from './frame/respond.js';
import { failureAnswer, jsonAnswer } from './frame/response.js';

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
function live(): Middleware<RequestState> {
  return function live(ctx) {
    ctx.state.answer = jsonAnswer(200, { status: 'live' });
  };
}

/** The service would carry out a request now. That it would not is an answer too, no failure to report. */
function ready(check: () => Promise<void>): Middleware<RequestState> {
  return async function ready(ctx) {
    try {
      await check();
      ctx.state.answer = jsonAnswer(200, { status: 'ready' });
    } catch (error) {
      const failure = toFailure(error);
      if (failure === failures.INTERNAL) throw error;
      ctx.state.answer = failureAnswer(failure);
    }
  };
}
