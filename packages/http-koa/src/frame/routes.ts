import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { HttpError } from './failures.js';

/** The methods of a path, and the middleware of each. */
type Methods = ReadonlyMap<string, Router['stack'][number]>;

/** RFC 9112 section 3.2.2. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;

/** A router for which `/plants/` and `/Plants` are not `/plants`. */
export function exactRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}

/** Whether the path of a request is one of the router's, whatever its method is. */
export function isRouted({ stack }: Router, { req }: Context): boolean {
  const path = pathOf(req.url ?? '');
  return stack.some((layer) => layer.match(path));
}

/**
 * Carries out the requests of a router's paths, and refuses all others.
 *
 * Routes without parameters are looked up, where the router would try every pattern and compose the
 * steps anew for each request: a quarter less CPU time for a create (measured interleaved against the
 * router alone, in memory, 50 connections). It carries its router, as the router's own middleware does,
 * so that instrumentation finds the routes.
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

/** The path as it was sent. Koa's own is normalised, and so would take `/plants#a` or `\plants` for `/plants`. */
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
