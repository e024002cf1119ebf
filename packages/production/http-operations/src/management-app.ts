import { allow, pathNotFound, respondToFailures } from '@plant-store/http-koa';
import type KoaApplication from 'koa';
import type { Middleware } from 'koa';
import { addHealth } from './health-routes.js';
import type { HttpObserver } from './http-observer.js';
import { Koa, newRouter } from './koa.js';
import { observe } from './observe.js';
import type { Operations } from './operated-app.js';

export interface ManagementDependencies extends Pick<Operations, 'ready'> {
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
  app.use(observe({ begun() {}, ended() {}, failed: observer.failed }));
  app.use(respondToFailures);
  const router = newRouter();
  addHealth(router, ready);
  router.get('/metrics', async (ctx) => {
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = await metrics.text();
  });
  router.all('/metrics', allow('HEAD, GET'));
  app.use(router.routes() as Middleware);
  app.use(pathNotFound);
  return app;
}
