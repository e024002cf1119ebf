import Router, { type RouterContext } from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { answerFailures } from './answer-failures.js';
import { checkHttp } from './check-http.js';
import { HttpError } from './failures.js';
import type { HttpObserver } from './http-observer.js';

/** A router for which `/plants/` and `/Plants` are not `/plants`. */
export function exactRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}

/** An application that serves these routes, and answers everything else in the one form of a failure. */
export function serveRoutes(router: Router, observer: HttpObserver): Koa {
  return new Koa()
    .use(answerFailures(observer))
    .use(checkHttp())
    .use(takePathAsSent())
    .use(router.routes() as Middleware)
    .use(refuseUnrouted());
}

/** Koa's own `path` is normalised, and so would take `/plants#a` or `\plants` for `/plants`. */
function takePathAsSent(): Middleware {
  return function takePathAsSent(ctx, next) {
    const target = (ctx.req.url ?? '').replace(/^https?:\/\/[^/?]*/i, '');
    ctx.newRouterPath = target.split('?', 1)[0] || '/';
    return next();
  };
}

function refuseUnrouted(): Middleware {
  return function refuseUnrouted(ctx) {
    const { matched } = ctx as unknown as Pick<RouterContext, 'matched'>;
    const allowed = matched?.flatMap(({ methods }) => methods) ?? [];
    if (allowed.length === 0) throw new HttpError('PATH_NOT_FOUND');
    ctx.set('Allow', allowed.join(', '));
    throw new HttpError('METHOD_NOT_ALLOWED');
  };
}
