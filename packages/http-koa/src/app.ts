import Router, { type RouterContext } from '@koa/router';
import type { CreatePlant, TokenVerifier } from '@plant-store/domain';
import Koa, { type Middleware } from 'koa';
import { answerFailures, type FailureReport } from './answer-failures.js';
import { authenticate } from './authenticate.js';
import { checkHttp } from './check-http.js';
import { createPlant } from './create-plant.js';
import { HttpError } from './failures.js';
import { live, ready } from './health.js';
import { limitInFlight } from './limit-in-flight.js';
import { readBody } from './read-body.js';
import { serveDocs } from './serve-docs.js';

/** What the application needs from the outside. */
export interface AppDependencies {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  /** Rejects with the reason why no request would be carried out now. */
  readonly ready: () => Promise<void>;
  /** Is told every failure that is the service's own, once. */
  readonly report: (failure: FailureReport) => void;
}

/** How the application behaves. Every member has a default. */
export interface AppOptions {
  /** Stands before `/plants`: empty, or segments like `/store/v1`. */
  readonly basePath?: string;
  /** Bytes a body may have at most. 16384 by default. */
  readonly bodyLimit?: number;
  /** Operations worked on at once, each from the last byte of its body. 1000 by default. */
  readonly maxInFlight?: number;
  /** Milliseconds from the last byte of a request to its answer. 15000 by default. */
  readonly requestDeadline?: number;
  /** Whether the interface description and the page to try it from are served. They are by default. */
  readonly docs?: boolean;
}

/**
 * `POST /plants`, the health checks and the docs as a Koa application. It listens nowhere and opens
 * nothing. Serve it with `createServer`, or mount its `callback()` in a server of your own.
 *
 * Source: specification, "Endpoints".
 */
export function createApp(dependencies: AppDependencies, options: AppOptions = {}): Koa {
  const { basePath = '', bodyLimit = 16_384, maxInFlight = 1000 } = options;
  const { requestDeadline = 15_000, docs = true } = options;
  const router = new Router({ strict: true, sensitive: true });
  router.post(
    `${basePath}/plants`,
    authenticate(dependencies.tokenVerifier),
    readBody(bodyLimit, requestDeadline),
    limitInFlight(maxInFlight),
    createPlant(dependencies.createPlant),
  );
  router.get('/livez', live());
  router.get('/readyz', ready(dependencies.ready));
  if (docs) serveDocs(router, basePath);

  return new Koa()
    .use(answerFailures(dependencies.report))
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
