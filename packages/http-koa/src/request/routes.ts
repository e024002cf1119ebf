import Router from '@koa/router';
import type { Context as KoaContext, Middleware, Next } from 'koa';
import type { Operation } from './exchange.js';
import { HttpError } from './failures.js';

/** The operations by path and method. The operation of `GET` is also that of `HEAD`. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

type Operations = ReadonlyMap<string, Operation>;

/** A route without parameters. */
interface PlainRoute {
  readonly methods: Operations;
  readonly layer: Router['stack'][number];
  /** The middleware that the layer was made of. */
  readonly step: Middleware;
}

/** The absolute form of a request target, which names a host (RFC 9112 section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]+/i;

/**
 * Creates the middleware that carries out the requests to these routes, refuses other methods of their paths, and
 * passes on all other requests. It compares paths exactly: `/plants/` and `/Plants` are not `/plants`.
 *
 * Looks up paths without parameters. The router itself would try every pattern and compose the middleware again for
 * each request; with the look-up, a create takes a quarter less CPU time, with one connection and with 50. (Measured
 * interleaved, without a storage.) The middleware has a property with its router, for instrumentation and for other routers.
 *
 * @param toMiddleware Makes the middleware of an operation.
 */
export function serveRoutes(
  routes: Routes,
  toMiddleware: (operation: Operation) => Middleware,
): Middleware & { readonly router: Router } {
  const router = new Router({ strict: true, sensitive: true });
  const plainRoutes = new Map<string, PlainRoute>();
  for (const [path, operations] of Object.entries(routes)) {
    const all = withHead(operations);
    const step = toMiddleware(byMethod(all));
    router.all(path, step);
    const layer = router.stack.at(-1);
    if (layer && !path.includes(':')) plainRoutes.set(path, { methods: all, layer, step });
  }
  const throughRouter = router.routes() as Middleware;
  function serve(ctx: KoaContext, next: Next) {
    const path = pathOf(ctx.req.url ?? '');
    const route = plainRoutes.get(path);
    if (route === undefined) {
      ctx.newRouterPath = path;
      return throughRouter(ctx, next);
    }
    ctx._matchedRoute = path;
    return stepOf(route, ctx.req.method)(ctx, next);
  }
  return Object.assign(serve, { router });
}

/** The path as it was sent. Koa's path is normalised, so that `/plants#a` and `\plants` would be `/plants`. */
function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '');
  const end = local.indexOf('?');
  return end === -1 ? local : local.slice(0, end);
}

/** Instrumentation replaces the middleware of a layer, to name spans by the route. A refused method has no route. */
function stepOf({ methods, layer, step }: PlainRoute, method = ''): Middleware {
  return methods.has(method) ? (layer.stack[0] as Middleware) : step;
}

function withHead(operations: Routes[string]): Operations {
  const { GET } = operations;
  return new Map(Object.entries(GET === undefined ? operations : { HEAD: GET, ...operations }));
}

function byMethod(all: Operations): Operation {
  const allowed = [...all.keys()].join(', ');
  return (ctx) => {
    const operation = all.get(ctx.req.method ?? '');
    if (operation !== undefined) return operation(ctx);
    // In metrics, a route is a path with a method.
    ctx._matchedRoute = undefined;
    throw new HttpError('METHOD_NOT_ALLOWED', undefined, allowed);
  };
}
