import { createRequire } from 'node:module';

/** Loaded with `require`, as by the service: with both loaders, a busy Node.js 20 once had an unfinished module. */
export const { pino }: typeof import('pino') = createRequire(import.meta.url)('pino');
