import type Koa from 'koa';
import type { HttpObserver } from './frame/http-observer.js';
import { exactRouter, serveRoutes } from './frame/routes.js';
import { addHealthRoutes } from './health.js';

/** What the management listener shows. */
export interface ManagementDependencies {
  /** Rejects with the reason why no request would be carried out now. */
  readonly ready: () => Promise<void>;
  /** The metrics, as they are now. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly observer: Pick<HttpObserver, 'failed'>;
}

/** Health checks and metrics, for those who run the service. Not to be reached by its clients. */
export function createManagementApp({ ready, metrics, observer }: ManagementDependencies): Koa {
  const router = exactRouter();
  addHealthRoutes(router, ready);
  router.get('/metrics', async (ctx) => {
    const fields = ['Content-Type', metrics.contentType];
    ctx.state.answer = { status: 200, fields, body: await metrics.text() };
  });
  return serveRoutes(router, { begun() {}, ended() {}, failed: (it) => observer.failed(it) });
}
