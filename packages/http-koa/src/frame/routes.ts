import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { HttpError } from './failures.js';

/** The methods of a path, and the middleware of each. */
type Methods = ReadonlyMap<string, Router['stack'][number]>;

/** The absolute form of a request target (RFC 9112 section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;

/** Creates a router that compares paths exactly: `/plants/` and `/Plants` are not `/plants`. */
export function exactRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}

/** Returns whether the path of a request is a route of the router, whatever the method. */
export function isRouted({ stack }: Router, { req }: Context): boolean {
  const path = pathOf(req.url ?? '');
  return stack.some((layer) => layer.match(path));
}

/**
 * Creates the middleware that carries out the requests to the routes of a router, and refuses all others.
 *
 * Looks up routes without parameters. The router itself would try every pattern and compose the middleware again for
 * each request; with the look-up, a create takes a quarter less CPU time. (Measured interleaved, in memory, with
 * 50 connections.) The middleware has a property with its router, as that of the router does, for instrumentation.
 */
export function serveRoutes(router: Router): Middleware {
  const plainRoutes = routesWithoutParameters(router);
  const otherRoutes = router.routes() as Middleware;
  function routes(ctx: Context, next: Next) {
    const path = pathOf(ctx.req.url ?? '');
    const step = plainRoutes.get(path)?.get(ctx.req.method ?? '')?.stack[0];
    if (step === undefined) {
      ctx.newRouterPath = path;
      return otherRoutes(ctx, () => refuseUnrouted(ctx));
    }
    ctx._matchedRoute = path;
    return (step as Middleware)(ctx, next);
  }
  return Object.assign(routes, { router });
}

/** The path as it was sent. Koa's path is normalised, so that `/plants#a` and `\plants` would be `/plants`. */
function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '');
  const end = local.indexOf('?');
  return (end === -1 ? local : local.slice(0, end)) || '/';
}

function routesWithoutParameters({ stack }: Router): ReadonlyMap<string, Methods> {
  const routes = new Map<string, Map<string, Router['stack'][number]>>();
  for (const layer of stack) {
    if (layer.paramNames.length > 0 || layer.stack.length !== 1) continue;
    const path = String(layer.path);
    const methods = routes.get(path) ?? new Map<string, Router['stack'][number]>();
    for (const method of layer.methods) methods.set(method, layer);
    routes.set(path, methods);
  }
  return routes;
}

async function refuseUnrouted(ctx: Context): Promise<never> {
  const { matched } = ctx as unknown as Pick<RouterContext, 'matched'>;
  const allowed = matched?.flatMap(({ methods }) => methods) ?? [];
  if (allowed.length === 0) throw new HttpError('PATH_NOT_FOUND');
  throw new HttpError('METHOD_NOT_ALLOWED', undefined, allowed.join(', '));
}
