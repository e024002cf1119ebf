import type Koa from 'koa';
import { type AppDependencies, appOf } from './app.js';
import { healthRoutes } from './health-routes.js';
import { createRespond } from './request/exchange.js';
import type { HttpObserver } from './request/http-observer.js';

/** The health check, the metrics and the observer of the management listener. */
export interface ManagementDependencies extends Pick<AppDependencies, 'ready'> {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Creates the Koa application with health checks and metrics, for operators. Clients must not be able to reach it. */
export function createManagementApp({ ready, metrics, observer }: ManagementDependencies): Koa {
  const routes = {
    ...healthRoutes(ready),
    '/metrics': {
      GET: async () => {
        const headers = ['Content-Type', metrics.contentType];
        return { status: 200, headers, body: await metrics.text() };
      },
    },
  };
  const failuresOnly: HttpObserver = {
    begun() {},
    ended() {},
    failed: (it) => observer.failed(it),
  };
  return appOf(routes, createRespond(failuresOnly, Number.POSITIVE_INFINITY));
}
