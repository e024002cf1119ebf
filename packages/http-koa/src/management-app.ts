import type Koa from 'koa';
import { appOf } from './app.js';
import type { HttpObserver } from './frame/http-observer.js';
import type { PlantStoreContext } from './frame/respond.js';
import { exactRouter } from './frame/routes.js';
import { addHealthRoutes } from './health.js';

/** The health check, the metrics and the observer of the management listener. */
export interface ManagementDependencies {
  /** Rejects with the reason when a create would be refused now. */
  readonly ready: () => Promise<void>;
  /** The current metrics. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Creates the Koa application with health checks and metrics, for operators. Clients must not be able to reach it. */
export function createManagementApp({ ready, metrics, observer }: ManagementDependencies): Koa {
  const router = exactRouter();
  addHealthRoutes(router, ready);
  router.get<unknown, PlantStoreContext>('/metrics', async (ctx) => {
    const fields = ['Content-Type', metrics.contentType];
    ctx.plantStore.response = { status: 200, fields, body: await metrics.text() };
  });
  return appOf(router, { begun() {}, ended() {}, failed: (it) => observer.failed(it) });
}
