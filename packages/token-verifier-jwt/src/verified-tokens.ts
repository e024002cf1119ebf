import type { Client } from '@plant-store/domain';

interface Verified {
  readonly client: Client;
  readonly until: number;
}

/**
 * The clients of tokens that were verified before, so that a signature is checked once and not
 * with every request. Holds digests, never tokens; the oldest makes room for the newest.
 */
export class VerifiedTokens {
  readonly #limit: number;
  readonly #clients = new Map<string, Verified>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param until Milliseconds since the epoch from which on the client is forgotten. */
  remember(digest: string, client: Client, until: number): void {
    this.#clients.delete(digest);
    this.#clients.set(digest, { client, until });
    const [oldest] = this.#clients.size > this.#limit ? this.#clients.keys() : [];
    if (oldest !== undefined) this.#clients.delete(oldest);
  }

  clientOf(digest: string, now: number): Client | undefined {
    const verified = this.#clients.get(digest);
    if (verified === undefined || now < verified.until) return verified?.client;
    this.#clients.delete(digest);
    return undefined;
  }
}
