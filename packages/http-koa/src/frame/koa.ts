import { createRequire } from 'node:module';
import type KoaApplication from 'koa';

/**
 * Koa, loaded with `require`, because instrumentation that is preloaded with `--import` patches imported modules
 * only with an additional loader hook.
 */
export const Koa: typeof KoaApplication = createRequire(import.meta.url)('koa');
