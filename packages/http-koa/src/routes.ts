import type Router from '@koa/router';
import type { Layer } from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { answerRequests, type RequestState } from './answer-requests.js';
import { HttpError } from './failures.js';
import type { HttpObserver } from './http-observer.js';

/** RFC 9112 section 3.2.2. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)/i;

/** An application that serves these routes, and answers everything else in the one form of a failure. */
export function serveRoutes(router: Router, observer: HttpObserver): Koa {
  return new Koa().use(answerRequests(observer)).use(dispatch(router));
}

type Handlers = Readonly<Record<string, Middleware>>;

/**
 * Carries out the route whose path is the path of the request, byte by byte. The router's own
 * dispatch would match patterns against Koa's normalised path, which takes `/plants#a` and
 * `\plants` for `/plants`.
 */
function dispatch(router: Router): Middleware<RequestState> {
  const routes = new Map(router.stack.map((layer) => [String(layer.path), handlersOf(layer)]));
  return function dispatch(ctx, next) {
    const path = pathOf(ctx.req.url ?? '');
    const handlers = routes.get(path);
    if (handlers === undefined) throw new HttpError('PATH_NOT_FOUND');
    const handler = handlers[ctx.req.method ?? ''];
    if (handler === undefined) {
      ctx.set('Allow', Object.keys(handlers).join(', '));
      throw new HttpError('METHOD_NOT_ALLOWED');
    }
    ctx.state.route = path;
    return handler(ctx, next);
  };
}

/** Every route of this service has one path, without parameters, and one step. */
function handlersOf({ methods, stack }: Layer): Handlers {
  return Object.fromEntries(methods.map((method) => [method, stack[0] as Middleware]));
}

/** The path of a request target, as it was sent. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target.split('?', 1)[0] ?? '';
  const authority = ABSOLUTE_FORM.exec(target)?.[1];
  if (authority === '') throw new HttpError('MALFORMED_REQUEST', 'the target names no host');
  return target.replace(ABSOLUTE_FORM, '').split('?', 1)[0] || '/';
}
