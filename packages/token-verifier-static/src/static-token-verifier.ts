import { createHash, timingSafeEqual } from 'node:crypto';
import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';

/** The SHA-256 digest of an accepted token, and the name that stands for it in the log. */
export interface TokenDigest {
  /** 64 hexadecimal digits, in either case. */
  readonly sha256: string;
  readonly label: string;
}

interface KnownToken {
  readonly digest: Buffer;
  readonly client: Client;
}

/**
 * Accepts tokens whose SHA-256 digest it was given; it never holds a token itself.
 *
 * Every digest is compared, each in constant time, so that how long an answer takes tells
 * nothing about how near a guess came.
 */
export class StaticTokenVerifier implements TokenVerifier {
  readonly #known: readonly KnownToken[];
  #closed = false;

  /** @throws {TypeError} when a digest is not 64 hexadecimal digits. */
  constructor(digests: readonly TokenDigest[]) {
    this.#known = digests.map(knownToken);
  }

  async verify(token: string): Promise<Client> {
    this.#refuseWhenClosed();
    const digest = createHash('sha256').update(token).digest();
    let client: Client | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest)) client = known.client;
    }
    if (client === undefined) throw new InvalidTokenError('the token is not known');
    return client;
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new TokenVerifierUnavailableError('the token verifier is closed');
  }
}

function knownToken({ sha256, label }: TokenDigest): KnownToken {
  if (!/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new TypeError(`the digest of ${label} must be 64 hexadecimal digits`);
  }
  const client = authenticatedClient(label, ['create plants']);
  return { digest: Buffer.from(sha256, 'hex'), client };
}
