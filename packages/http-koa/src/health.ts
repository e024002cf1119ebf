import type { Middleware } from 'koa';

const FRESH_FOR_MS = 1000;

/** The process serves. Nothing else is asked. */
export function live(): Middleware {
  return function live(ctx) {
    ctx.body = { status: 'live' };
    ctx.set('Cache-Control', 'no-store');
  };
}

/**
 * The service would carry out a request now.
 *
 * @param check Rejects with the reason why it would not. Asked at most once a second.
 */
export function ready(check: () => Promise<void>): Middleware {
  const checkSometimes = atMostOnceASecond(check);
  return async function ready(ctx) {
    await checkSometimes();
    ctx.body = { status: 'ready' };
    ctx.set('Cache-Control', 'no-store');
  };
}

function atMostOnceASecond(check: () => Promise<void>): () => Promise<void> {
  let latest: Promise<void> | undefined;
  let askedAt = 0;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - askedAt >= FRESH_FOR_MS) {
      askedAt = now;
      latest = check();
    }
    return latest;
  };
}
