import Router from '@koa/router';
import type { Context as KoaContext, Middleware, Next } from 'koa';
import type { Operation } from './exchange.js';
import { HttpError } from './failures.js';

/** The operations by path and method. The operation of `GET` is also that of `HEAD`. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The absolute form of a request target, which names a host (RFC 9112 section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]+/i;

/**
 * Creates the middleware that carries out the requests to these routes, refuses other methods of their paths, and
 * passes on all other requests. It compares paths exactly: `/plants/` and `/Plants` are not `/plants`.
 *
 * Looks up paths without parameters: with a router that tries every pattern, a create takes a third more CPU time. The
 * property `router` is for instrumentation, which replaces the middleware of a layer to name spans, and for other routers.
 */
export function serveRoutes(
  routes: Routes,
  toMiddleware: (operation: Operation) => Middleware,
): Middleware & { readonly router: Router } {
  const router = new Router({ strict: true, sensitive: true });
  const layers = new Map<string, Router['stack'][number]>();
  for (const [path, operations] of Object.entries(routes)) {
    router.all(path, toMiddleware(byMethod(operations)));
    const layer = router.stack.at(-1);
    if (layer && !path.includes(':')) layers.set(path, layer);
  }
  const throughRouter = router.routes() as Middleware;
  function serve(ctx: KoaContext, next: Next) {
    const path = pathOf(ctx.req.url ?? '');
    const step = layers.get(path)?.stack[0] as Middleware | undefined;
    if (step === undefined) {
      ctx.newRouterPath = path;
      return throughRouter(ctx, next);
    }
    ctx._matchedRoute = path;
    return step(ctx, next);
  }
  return Object.assign(serve, { router });
}

/** The path as it was sent. Koa's path is normalised, so that `/plants#a` and `\plants` would be `/plants`. */
function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '');
  const end = local.indexOf('?');
  return end === -1 ? local : local.slice(0, end);
}

function byMethod(operations: Routes[string]): Operation {
  const { GET } = operations;
  const all = new Map(Object.entries({ ...(GET && { HEAD: GET }), ...operations }));
  const allowed = [...all.keys()].join(', ');
  return (ctx) => {
    const operation = all.get(ctx.req.method ?? '');
    if (operation !== undefined) return operation(ctx);
    // In metrics, a route is a path with a method.
    ctx._matchedRoute = undefined;
    throw new HttpError('METHOD_NOT_ALLOWED', undefined, { allow: allowed });
  };
}
