import {
  OutcomeUnknownError,
  type StorageEvent,
  type StorageObserver,
  StorageUnavailableError,
  type TokenObserver,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { HttpObserver } from '@plant-store/http-koa';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';
import { RefusalLog } from './refusal-log.js';

/** The variables that name what the adapters reach: they begin its log lines. */
export interface AdapterVariables {
  readonly storage: string | undefined;
  readonly verifier: string | undefined;
}

/** What the adapters report about themselves, for the log and the metrics. */
export interface Observer {
  readonly http: HttpObserver;
  readonly storage: StorageObserver;
  readonly tokens: TokenObserver;
}

/** Logs what an operator has to know, and counts everything. */
export function observe(
  logger: Logger,
  metrics: Metrics | undefined,
  variables: AdapterVariables,
): Observer {
  const refusals = new RefusalLog(logger);
  return {
    http: {
      begun: () => metrics?.requestBegun(),
      ended(exchange) {
        metrics?.requestEnded(exchange);
        if (exchange.refusal !== undefined) refusals.refused(exchange.refusal, exchange);
        logger.debug(exchange, 'responded');
      },
      failed({ requestId, error, cause }) {
        logger.error({ requestId, error, ...describe(cause) }, 'a request failed');
      },
    },
    storage(event) {
      metrics?.storageEvent(event);
      logStorageEvent(logger, event, variables.storage);
    },
    tokens(event) {
      metrics?.tokenEvent(event);
      if (event.type === 'issuer not reached') {
        logger.warn(sentenceOf(event.error, variables.verifier));
      }
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
function chainOf(error: unknown): string {
  return [...new Set(messagesOf(error))].join(': ') || 'no reason given';
}

function messagesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  const messages = [error.message, ...[error.cause, ...several].flatMap(messagesOf)];
  return messages.filter((message) => message !== '');
}

/** The variables to look at, what is wrong, and why. */
export function sentenceOf(error: unknown, variables: string | undefined): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const sentence = cause === undefined ? message : `${message} (${chainOf(cause)})`;
  return variables === undefined ? sentence : `${variables}: ${sentence}`;
}

function logStorageEvent(logger: Logger, event: StorageEvent, variables: string | undefined): void {
  switch (event.type) {
    case 'batch written':
      return;
    case 'storage reachable':
      if (variables !== undefined) logger.info(`${variables}: the storage is reachable`);
      return;
    case 'storage unreachable':
      logger.warn(sentenceOf(event.error, variables));
      return;
    case 'storage warning':
      logger.warn({ command: event.command }, event.message);
      return;
    case 'plant refused':
      logger.error({ code: event.code, reason: event.reason }, 'the database refused a plant');
  }
}
