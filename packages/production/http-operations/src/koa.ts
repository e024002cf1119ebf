import Router from '@koa/router';

export { default as Koa } from './required-koa.cjs';

/** Creates a router that compares paths exactly: `/plants/` and `/Plants` are not `/plants`. */
export function newRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}
