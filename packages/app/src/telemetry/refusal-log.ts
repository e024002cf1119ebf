import type { Exchange, Refusal } from '@plant-store/http-koa';
import type { Logger } from 'pino';

const INTERVAL_MS = 60_000;

/** A reason for which tokens were refused recently. */
interface Recent {
  readonly loggedAt: number;
  suppressed: number;
}

/**
 * Logs why tokens are refused, each reason at most once a minute, so that clients cannot fill the log. A line has
 * the number of refusals for the same reason that were not logged since the previous line.
 */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #recent = new Map<Refusal, Recent>();

  /** @param now Returns the time in milliseconds of a clock that is never set back. */
  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  refused(reason: Refusal, { requestId, client }: Pick<Exchange, 'requestId' | 'client'>): void {
    const recent = this.#recent.get(reason);
    const now = this.#now();
    if (recent !== undefined && now - recent.loggedAt < INTERVAL_MS) {
      recent.suppressed += 1;
      return;
    }
    this.#recent.set(reason, { loggedAt: now, suppressed: 0 });
    const suppressed = recent?.suppressed ?? 0;
    this.#logger.info({ requestId, client, reason, suppressed }, 'a token was refused');
  }
}
