import type { Operation } from './request/exchange.js';
import { failures } from './request/failures.js';
import { failureResponse, jsonResponse } from './request/response.js';
import type { Routes } from './request/routes.js';

/** The service is stopping and accepts no more requests. */
export class StoppingError extends Error {
  override readonly name = 'StoppingError';
  readonly code = 'STOPPING';
}

/** Returns the health checks for load balancers, `/livez` and `/readyz`. They need no token and reveal no secrets. */
export function healthRoutes(check: () => Promise<void>): Routes {
  return {
    '/livez': { GET: () => jsonResponse(200, { status: 'live' }) },
    '/readyz': { GET: ready(check) },
  };
}

function ready(check: () => Promise<void>): Operation {
  return async () => {
    try {
      await check();
    } catch (error) {
      const { failure, ...response } = failureResponse(error);
      if (failure === failures.INTERNAL) throw error;
      // Not being ready is not a fault: without `failure`, the observer is not told.
      return response;
    }
    return jsonResponse(200, { status: 'ready' });
  };
}
