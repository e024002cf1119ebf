import type Koa from 'koa';
import { type AppDependencies, appOf, newRouter } from './app.js';
import { addHealth } from './health-routes.js';
import type { HttpObserver } from './request/http-observer.js';
import { allow } from './request/respond-to-failures.js';

/** The health check, the metrics and the observer of the management listener. */
export interface ManagementDependencies extends Pick<AppDependencies, 'ready'> {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Creates the Koa application with health checks and metrics, for operators. Clients must not be able to reach it. */
export function createManagementApp({ ready, metrics, observer }: ManagementDependencies): Koa {
  const router = newRouter();
  addHealth(router, ready);
  router
    .get('/metrics', async (ctx) => {
      ctx.set('Content-Type', metrics.contentType);
      ctx.body = await metrics.text();
    })
    .all('/metrics', allow('HEAD, GET'));
  const failuresOnly: HttpObserver = {
    begun() {},
    ended() {},
    failed: (it) => observer.failed(it),
  };
  return appOf([router], failuresOnly);
}
