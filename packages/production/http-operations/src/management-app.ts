import { allowOnly, pathNotFound, respondToFailures } from '@plant-store/http-koa';
import type KoaApplication from 'koa';
import type { Middleware } from 'koa';
import { addHealth } from './health.js';
import type { HttpObserver } from './http-event.js';
import { observed } from './observed.js';
import { newRouter, type Readiness } from './operation-routes.js';
import { default as Koa } from './required-koa.cjs';

export interface ManagementDependencies {
  readonly ready: Readiness;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: HttpObserver;
}

/** Creates the Koa application with health checks and metrics, for operators. Clients must not be able to reach it. */
export function createManagementApp({
  ready,
  metrics,
  observer,
}: ManagementDependencies): KoaApplication {
  const router = newRouter();
  addHealth(router, ready);
  router.get('/metrics', async (ctx) => {
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = await metrics.text();
  });
  allowOnly(router, '/metrics', 'HEAD', 'GET');
  const app = new Koa();
  // The observer receives the failures.
  app.silent = true;
  app.use(observed(observer)).use(respondToFailures);
  return app.use(router.routes() as Middleware).use(pathNotFound);
}
