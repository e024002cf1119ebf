import type { RequestListener } from 'node:http';
import { AUDIENCE, LoopbackServer } from '@plant-store/test-servers/oidc-issuer';
import { JwtTokenVerifier, type JwtTokenVerifierOptions } from '@plant-store/token-verifier-jwt';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

/** A key pair of the issuer: it signs with the private key, and publishes the public one. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly published: JWK;
}

export async function issuerKey(kid: string | undefined, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: 'sig' };
  return { privateKey, published: kid === undefined ? jwk : { ...jwk, kid } };
}

export const METADATA = '/.well-known/openid-configuration';

const json =
  (value: unknown): RequestListener =>
  (_, response) => {
    const headers = { 'content-type': 'application/json' };
    response.writeHead(200, headers).end(JSON.stringify(value));
  };

/** An issuer on the loopback interface; a test sets its keys, clock and responses. */
export class FakeIssuer extends LoopbackServer {
  /** The key of its tokens. */
  readonly key: IssuerKey;
  keys: IssuerKey[];
  /** Handlers that respond instead of the issuer, by path. */
  readonly handlers = new Map<string, RequestListener>();
  /** The time of the verifier's clock, in milliseconds since the epoch. */
  now = Date.now();
  readonly #verifiers: JwtTokenVerifier[] = [];

  protected override handler: RequestListener = (request, response) => {
    const path = request.url ?? '';
    const published: Record<string, object> = {
      [METADATA]: { issuer: this.url, jwks_uri: `${this.url}/jwks` },
      '/jwks': { keys: this.keys.map(({ published }) => published) },
    };
    const handle = this.handlers.get(path) ?? (published[path] && json(published[path]));
    if (handle) handle(request, response);
    else response.writeHead(404).end();
  };

  constructor(key: IssuerKey) {
    super();
    this.key = key;
    this.keys = [key];
  }

  /** Responds at this path with a document from now on. */
  publish(path: string, document: unknown): void {
    this.handlers.set(path, json(document));
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

  /** Makes a token that is valid except for the given claims, header and key. */
  async token(
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
    key: IssuerKey = this.key,
  ): Promise<string> {
    const { alg, kid } = key.published;
    return new SignJWT({ ...this.claims(), ...claims })
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header } as JWTHeaderParameters)
      .sign(key.privateKey);
  }
}

/** Starts an issuer before each test of a suite, and stops it afterwards. All of them share one key. */
export function startEach(use: (issuer: FakeIssuer) => void, alg?: string): void {
  let key: IssuerKey;
  let issuer: FakeIssuer;

  before(async () => {
    key = await issuerKey('first', alg);
  });

  beforeEach(async () => {
    issuer = new FakeIssuer(key);
    await issuer.listen();
    use(issuer);
  });

  afterEach(() => issuer.close());
}
