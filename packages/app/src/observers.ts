import type { HttpObserver } from '@plant-store/http-koa';
import type { Logger } from 'pino';

/** Logs every failure of our own with its cause, and at `debug` a line for each request. */
export function logging(logger: Logger): HttpObserver {
  return {
    begun() {},
    ended: (exchange) => logger.debug(exchange, 'answered'),
    failed({ requestId, error, cause }) {
      logger.error({ requestId, error, err: cause }, 'a request failed');
    },
  };
}

/** Tells each of them everything. */
export function together(observers: readonly HttpObserver[]): HttpObserver {
  return {
    begun() {
      for (const observer of observers) observer.begun();
    },
    ended(exchange) {
      for (const observer of observers) observer.ended(exchange);
    },
    failed(failure) {
      for (const observer of observers) observer.failed(failure);
    },
  };
}
