import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JwtTokenVerifier, type JwtTokenVerifierOptions } from '@plant-store/token-verifier-jwt';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

export const AUDIENCE = 'https://plants.example';

/** A key pair of the issuer: the half it signs with, and the half it publishes. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly published: JWK;
}

export async function issuerKey(kid: string | undefined, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: 'sig' };
  return { privateKey, published: kid === undefined ? jwk : { ...jwk, kid } };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const METADATA = '/.well-known/openid-configuration';

/** An issuer on the loopback interface whose keys, clock and answers a test decides. */
export class FakeIssuer {
  /** The path of every request that came in. */
  readonly requests: string[] = [];
  /** What the issuer publishes; the first one signs. */
  keys: IssuerKey[];
  /** Answers instead of the issuer, by path. */
  readonly answers = new Map<string, Answer>();
  /** Milliseconds since the epoch, by the clock of the verifier. */
  now = Date.now();
  url = '';
  readonly #verifiers: JwtTokenVerifier[] = [];
  #server: Server | undefined;

  private constructor(keys: IssuerKey[]) {
    this.keys = keys;
  }

  static async start(...keys: IssuerKey[]): Promise<FakeIssuer> {
    const issuer = new FakeIssuer(keys);
    await issuer.listen();
    return issuer;
  }

  /** Listens on the port it had before, if it had one. */
  async listen(): Promise<void> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    const server = createServer((request, response) => this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
  }

  /** Goes out of reach: connections are refused from now on. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const stopped = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await stopped;
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

  /** A token as the issuer makes it, but for the claims, the header and the key that are given. */
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

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    const publish: Record<string, Answer> = {
      [METADATA]: (_, to) => json(to, { issuer: this.url, jwks_uri: `${this.url}/jwks` }),
      '/jwks': (_, to) => json(to, { keys: this.keys.map(({ published }) => published) }),
    };
    const answer = this.answers.get(path) ?? publish[path] ?? notFound;
    answer(request, response);
  }
}

const notFound: Answer = (_, response) => {
  response.writeHead(404).end();
};

export function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
