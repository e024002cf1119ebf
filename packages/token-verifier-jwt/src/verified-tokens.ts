import type { Client } from '@plant-store/domain';

interface Verified {
  readonly client: Client;
  readonly until: number;
}

const MAX_TOKENS = 10_000;

/**
 * Caches the clients of verified tokens, so that a signature is checked once and not with every request.
 * Holds digests, never tokens. When the cache is full, the oldest entry is dropped.
 */
export class VerifiedTokens {
  readonly #clients = new Map<string, Verified>();

  /** @param until When the entry expires, in milliseconds since the epoch. */
  add(digest: string, client: Client, until: number): void {
    this.#clients.delete(digest);
    this.#clients.set(digest, { client, until });
    const [oldest] = this.#clients.size > MAX_TOKENS ? this.#clients.keys() : [];
    if (oldest !== undefined) this.#clients.delete(oldest);
  }

  clientOf(digest: string, now: number): Client | undefined {
    const verified = this.#clients.get(digest);
    if (verified === undefined || now < verified.until) return verified?.client;
    this.#clients.delete(digest);
    return undefined;
  }
}
