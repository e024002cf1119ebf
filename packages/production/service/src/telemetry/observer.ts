import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import {
  OutcomeUnknownError,
  StoreUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { type EndedExchange, failures, type HttpObserver } from '@plant-store/http-operations';
import type { StoreObserver } from '@plant-store/plant-repository-group-commit';
import type { TokenObserver } from '@plant-store/token-verifier-jwt';
import proxyAddress from 'proxy-addr';
import { messagesOf, sentenceOf } from '../messages/wording.js';
import type { Log } from './logger.js';
import type { Metrics } from './metrics.js';

const OUTAGES = [StoreUnavailableError, OutcomeUnknownError, TokenVerifierUnavailableError];

type Proxies = ReturnType<typeof proxyAddress.compile>;

/** What log lines name. */
export interface ObserverOptions {
  /** The variables that name the database; log lines about it begin with them. */
  readonly store: { readonly variables?: string };
  /** The variables that name the token verifier, likewise. */
  readonly verifier: { readonly variables?: string };
  /**
   * Returns whether an address belongs to a trusted proxy, whose `X-Forwarded-For` names the client. By default, none
   * does.
   */
  readonly TRUSTED_PROXIES?: Proxies | undefined;
}

export interface Observer {
  readonly http: HttpObserver;
  readonly store: StoreObserver;
  readonly tokens: TokenObserver;
}

/** Returns observers that log what operators need to know, and count everything. */
export function observe(
  logger: Log,
  metrics: Metrics | undefined,
  { store, verifier, TRUSTED_PROXIES: proxies = () => false }: ObserverOptions,
): Observer {
  return {
    http: {
      begun: () => metrics?.requestBegun(),
      ended(exchange) {
        metrics?.requestEnded(exchange);
        const level = isRefused(exchange) ? 'info' : 'debug';
        if (!logger.isLevelEnabled(level)) return;
        const { request, ...fields } = exchange;
        logger[level]({ ...fields, address: addressOf(request, proxies) }, 'responded');
      },
      failed({ requestId, error, cause }) {
        logger.error({ requestId, error, ...describe(cause) }, 'a request failed');
      },
    },
    store(event) {
      metrics?.storeEvent(event);
      const { variables } = store;
      if (event.type === 'store reachable' && variables !== undefined) {
        logger.info(`${variables}: the database is reachable`);
      }
      if (event.type === 'store unreachable') logger.warn(sentenceOf(event.error, variables));
      if (event.type === 'store warning') logger.warn({ command: event.command }, event.message);
      if (event.type === 'plant refused') {
        const { code, reason } = event;
        logger.error({ code, reason }, 'the database refused a plant');
      }
    },
    tokens(event) {
      metrics?.tokenEvent(event);
      if (event.type === 'issuer not reached') {
        logger.warn(sentenceOf(event.error, verifier.variables));
      }
    },
  };
}

/** Returns the client's address, or the proxy's if the proxy does not name a valid address. */
function addressOf(request: IncomingMessage, proxies: Proxies): string | undefined {
  const address = withoutPort(proxyAddress(request, (it, at) => proxies(withoutPort(it), at)));
  return isIP(address) > 0 ? address : request.socket.remoteAddress;
}

/** Returns an address of `X-Forwarded-For`, to which Azure Application Gateway and IIS add the port: `[2001:db8::7]:4711`. */
function withoutPort(address = ''): string {
  return address.replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2');
}

/** The errors that `failed` receives as well: they are logged on a line of their own, with their cause. */
const OURS = new Set(
  Object.values(failures)
    .filter((it) => it.ours)
    .map((it) => it.error),
);

/** Whether the client or its load is the reason for the response. */
function isRefused({ error }: EndedExchange): boolean {
  return error !== undefined && !OURS.has(error);
}

/** Describes an error for the log: an outage without its stack, a bug with its stack. */
function describe(cause: unknown): { reason: string } | { err: unknown } {
  const isOutage = OUTAGES.some((Outage) => cause instanceof Outage);
  return isOutage ? { reason: messagesOf(cause).join(': ') } : { err: cause };
}
