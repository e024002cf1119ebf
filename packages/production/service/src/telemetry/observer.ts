import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import {
  OutcomeUnknownError,
  StoreUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { type EndedRequest, failures } from '@plant-store/http-operations';
import proxyAddress from 'proxy-addr';
import { messagesOf, sentenceOf } from '../messages/wording.js';
import type { Log } from './logger.js';
import type { Metrics, ServiceEvent } from './metrics.js';

const OUTAGES = [StoreUnavailableError, OutcomeUnknownError, TokenVerifierUnavailableError];

type Proxies = ReturnType<typeof proxyAddress.compile>;

/** What log lines name. */
export interface ObserverOptions {
  /** The variables that name the database; log lines about it begin with them. */
  readonly store: { readonly variables?: string };
  /** The variables that configure the token verifier; log lines about it begin with them. */
  readonly verifier: { readonly variables?: string };
  /**
   * Returns whether an address belongs to a trusted proxy, whose `X-Forwarded-For` names the client. By default, none
   * does.
   */
  readonly TRUSTED_PROXIES?: Proxies | undefined;
}

export type Observer = (event: ServiceEvent) => void;

/** Returns an observer that logs what operators need to know, and counts everything. */
export function observe(
  logger: Log,
  metrics: Metrics | undefined,
  { store, verifier, TRUSTED_PROXIES: proxies = () => false }: ObserverOptions,
): Observer {
  return (event) => {
    metrics?.count(event);
    switch (event.type) {
      case 'request ended': {
        const level = isRefused(event) ? 'info' : 'debug';
        if (!logger.isLevelEnabled(level)) break;
        const { type, request, ...fields } = event;
        logger[level]({ ...fields, address: addressOf(request, proxies) }, 'responded');
        break;
      }
      case 'request failed': {
        const { type, cause, ...fields } = event;
        logger.error({ ...fields, ...describe(cause) }, 'a request failed');
        break;
      }
      case 'store reachable': {
        const { variables } = store;
        if (variables !== undefined) logger.info(`${variables}: the database is reachable`);
        break;
      }
      case 'store unreachable':
        logger.warn(sentenceOf(event.error, store.variables));
        break;
      case 'store warning':
        logger.warn({ command: event.command }, event.message);
        break;
      case 'plant refused': {
        const { code, reason } = event;
        logger.error({ code, reason }, 'the database refused a plant');
        break;
      }
      case 'issuer not reached':
        logger.warn(sentenceOf(event.error, verifier.variables));
        break;
    }
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

/** The errors that are logged on a line of their own as well, with their cause. */
const OURS = new Set(
  Object.values(failures)
    .filter((it) => it.ours)
    .map((it) => it.error),
);

/** Whether the client or its load is the reason for the response. */
function isRefused({ error }: EndedRequest): boolean {
  return error !== undefined && !OURS.has(error);
}

/** Describes an error for the log: an outage without its stack, a bug with its stack. */
function describe(cause: unknown): { reason: string } | { err: unknown } {
  const isOutage = OUTAGES.some((Outage) => cause instanceof Outage);
  return isOutage ? { reason: messagesOf(cause).join(': ') } : { err: cause };
}
