import { createRequire } from 'node:module';
import type KoaApplication from 'koa';

/**
 * Koa, loaded with `require`: instrumentation that is preloaded with `--import` patches what is
 * required, and an imported Koa only with a loader hook in addition.
 */
export const Koa: typeof KoaApplication = createRequire(import.meta.url)('koa');
