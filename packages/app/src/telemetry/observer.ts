import {
  OutcomeUnknownError,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { HttpObserver } from '@plant-store/http-koa';
import type { StorageEvent, StorageObserver } from '@plant-store/plant-repository-mongodb';
import type { JwtTokenVerifierObserver } from '@plant-store/token-verifier-jwt';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

type StorageOutage = Extract<StorageEvent, { type: 'storage unreachable' }>;

/** What the adapters tell about themselves, for the log and the metrics. */
export interface Observer {
  readonly http: HttpObserver;
  readonly storage: StorageObserver;
  readonly tokens: JwtTokenVerifierObserver;
}

/** Logs what somebody has to know of, and counts everything. */
export function observe(logger: Logger, metrics: Metrics | undefined): Observer {
  return {
    http: {
      begun: () => metrics?.requestBegun(),
      ended(exchange) {
        metrics?.requestEnded(exchange);
        logger.debug(exchange, 'answered');
      },
      failed({ requestId, error, cause }) {
        logger.error({ requestId, error, ...describe(cause) }, 'a request failed');
      },
    },
    storage(event) {
      metrics?.storageEvent(event);
      logStorageEvent(logger, event);
    },
    tokens: {
      tokenChecked: (remembered) => metrics?.tokenChecked(remembered),
      keysFetched: () => metrics?.keysFetched(true),
      keysNotFetched(cause) {
        metrics?.keysFetched(false);
        logger.warn(
          `JWT_ISSUER, JWKS_URL: the issuer's keys cannot be fetched (${chainOf(cause)})`,
        );
      },
    },
  };
}

/** An outage needs no stack in every line, only a bug does. */
function describe(cause: unknown): { reason: string } | { err: unknown } {
  const outage =
    cause instanceof StorageUnavailableError ||
    cause instanceof OutcomeUnknownError ||
    cause instanceof TokenVerifierUnavailableError;
  return outage ? { reason: chainOf(cause) } : { err: cause };
}

/** The message of an error and of all that caused it, without repetitions. */
export function chainOf(error: unknown): string {
  return [...new Set(messagesOf(error))].join(': ') || 'no reason given';
}

function messagesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  const messages = [error.message, ...[error.cause, ...several].flatMap(messagesOf)];
  return messages.filter((message) => message !== '');
}

function outageOf({ reason, hosts, cause }: StorageOutage): string {
  const database = `MONGODB_URI: the database at ${hosts.join(', ')}`;
  if (reason === 'no server') return `${database} is not reachable (${chainOf(cause)})`;
  return `${database} refuses the credentials (${chainOf(cause)})`;
}

function logStorageEvent(logger: Logger, event: StorageEvent): void {
  switch (event.type) {
    case 'batch inserted':
      return;
    case 'storage reachable':
      logger.info('MONGODB_URI: the database is reachable');
      return;
    case 'storage unreachable':
      logger.warn(outageOf(event));
      return;
    case 'storage warning':
      logger.warn({ command: event.command }, event.message);
      return;
    case 'plant refused':
      logger.error({ code: event.code, reason: event.reason }, 'the database refused a plant');
  }
}
