import Router, { type RouterContext } from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { answerRequests } from './answer-requests.js';
import { HttpError } from './failures.js';
import type { HttpObserver } from './http-observer.js';

/** RFC 9112 section 3.2.2. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)/i;

/** A router for which `/plants/` and `/Plants` are not `/plants`. */
export function exactRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}

/** An application that serves these routes, and answers everything else in the one form of a failure. */
export function serveRoutes(router: Router, observer: HttpObserver): Koa {
  return new Koa()
    .use(answerRequests(observer))
    .use(takePathAsSent())
    .use(router.routes() as Middleware)
    .use(refuseUnrouted());
}

/** Koa's own `path` is normalised, and so would take `/plants#a` or `\plants` for `/plants`. */
function takePathAsSent(): Middleware {
  return function takePathAsSent(ctx, next) {
    const target = ctx.req.url ?? '';
    const authority = ABSOLUTE_FORM.exec(target)?.[1];
    if (authority === '') throw new HttpError('MALFORMED_REQUEST', 'the target names no host');
    const path = target.replace(ABSOLUTE_FORM, '').split('?', 1)[0];
    ctx.newRouterPath = path || '/';
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
