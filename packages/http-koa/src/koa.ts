import { createRequire } from 'node:module';
import Router from '@koa/router';
import type KoaApplication from 'koa';

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
export const Koa: typeof KoaApplication = createRequire(import.meta.url)('koa');

/** Creates a router that compares paths exactly: `/plants/` and `/Plants` are not `/plants`. */
export function newRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}
