import type { RequestListener, ServerResponse } from 'node:http';
import { AUDIENCE, LoopbackServer } from '@plant-store/oidc-issuer';
import { JwtTokenVerifier, type JwtTokenVerifierOptions } from '@plant-store/token-verifier-jwt';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

/** A key pair of the issuer: the private key that it signs with, and the public key that it publishes. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly published: JWK;
}

export async function issuerKey(kid: string | undefined, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: 'sig' };
  return { privateKey, published: kid === undefined ? jwk : { ...jwk, kid } };
}

const METADATA = '/.well-known/openid-configuration';

/** An issuer on the loopback interface; a test sets its keys, clock and responses. */
export class FakeIssuer extends LoopbackServer {
  /** The keys that the issuer publishes; it signs with the first one. */
  keys: IssuerKey[];
  /** Handlers that respond instead of the issuer, by path. */
  readonly handlers = new Map<string, RequestListener>();
  /** The time of the verifier's clock, in milliseconds since the epoch. */
  now = Date.now();
  readonly #verifiers: JwtTokenVerifier[] = [];

  protected override handler: RequestListener = (request, response) => {
    const path = request.url ?? '';
    const publish: Record<string, RequestListener> = {
      [METADATA]: (_, to) => json(to, { issuer: this.url, jwks_uri: `${this.url}/jwks` }),
      '/jwks': (_, to) => json(to, { keys: this.keys.map(({ published }) => published) }),
    };
    const handle = this.handlers.get(path) ?? publish[path] ?? notFound;
    handle(request, response);
  };

  private constructor(keys: IssuerKey[]) {
    super();
    this.keys = keys;
  }

  static async start(...keys: IssuerKey[]): Promise<FakeIssuer> {
    const issuer = new FakeIssuer(keys);
    await issuer.listen();
    return issuer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#verifiers.map((verifier) => verifier.close()));
    await this.stop();
  }

  verifier(options: Partial<JwtTokenVerifierOptions> = {}): JwtTokenVerifier {
    const verifier = new JwtTokenVerifier({
      issuer: this.url,
      audience: AUDIENCE,
      now: () => this.now,
      ...options,
    });
    this.#verifiers.push(verifier);
    return verifier;
  }

  get seconds(): number {
    return Math.floor(this.now / 1000);
  }

  claims(): Record<string, unknown> {
    const { url: iss, seconds } = this;
    return { iss, aud: AUDIENCE, sub: 'gardener', iat: seconds, exp: seconds + 300 };
  }

  /** Makes a valid token, except for the claims, the header and the key that are given. */
  async token(
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
    key: IssuerKey | undefined = this.keys[0],
  ): Promise<string> {
    if (key === undefined) throw new Error('the issuer has no key to sign with');
    const { alg, kid } = key.published;
    return new SignJWT({ ...this.claims(), ...claims })
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header } as JWTHeaderParameters)
      .sign(key.privateKey);
  }
}

const notFound: RequestListener = (_, response) => {
  response.writeHead(404).end();
};

export function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
