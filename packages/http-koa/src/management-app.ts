import type Koa from 'koa';
import { appOf } from './app.js';
import type { HttpObserver } from './frame/http-observer.js';
import type { PlantStoreState } from './frame/request-state.js';
import { exactRouter } from './frame/routes.js';
import { addHealthRoutes } from './health.js';

/** What the management listener shows. */
export interface ManagementDependencies {
  /** Rejects with the reason why a create sent now would be refused. */
  readonly ready: () => Promise<void>;
  /** The metrics, as they are now. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Health checks and metrics, for those who run the service. Not to be reached by its clients. */
export function createManagementApp({ ready, metrics, observer }: ManagementDependencies): Koa {
  const router = exactRouter();
  addHealthRoutes(router, ready);
  router.get<PlantStoreState>('/metrics', async (ctx) => {
    const fields = ['Content-Type', metrics.contentType];
    ctx.state.plantStore.response = { status: 200, fields, body: await metrics.text() };
  });
  return appOf(router, { begun() {}, ended() {}, failed: (it) => observer.failed(it) });
}
