import type KoaApplication from 'koa';
import type { AppDependencies } from './app.js';
import { addHealth } from './health-routes.js';
import { Koa, newRouter } from './koa.js';
import type { HttpObserver } from './request/http-observer.js';
import { observe } from './request/observe.js';
import { allow, pathNotFound, respondToFailures } from './request/respond-to-failures.js';

export interface ManagementDependencies extends Pick<AppDependencies, 'ready'> {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Creates the Koa application with health checks and metrics, for operators. Clients must not be able to reach it. */
export function createManagementApp({
  ready,
  metrics,
  observer,
}: ManagementDependencies): KoaApplication {
  const app = new Koa();
  // The observer receives the failures.
  app.silent = true;
  app.use(observe({ begun() {}, ended() {}, failed() {} }));
  app.use(respondToFailures(observer));
  const router = newRouter();
  addHealth(router, ready);
  router.get('/metrics', async (ctx) => {
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = await metrics.text();
  });
  router.all('/metrics', allow('HEAD, GET'));
  app.use(router.routes());
  app.use(pathNotFound);
  return app;
}
