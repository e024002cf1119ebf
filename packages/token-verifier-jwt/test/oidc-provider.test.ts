import { rejects } from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { JwtTokenVerifier } from '@plant-store/token-verifier-jwt';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type Adapter } from 'oidc-provider';

const AUDIENCE = 'https://plants.example';
const SCOPE = 'plants:create';

async function signingKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Signed access tokens are kept nowhere, so there is nothing to store. */
class NoStorage implements Adapter {
  async upsert() {}
  async consume() {}
  async destroy() {}
  async revokeByGrantId() {}
  async find() {
    return undefined;
  }
  async findByUid() {
    return undefined;
  }
  async findByUserCode() {
    return undefined;
  }
}

/** A provider as it would be run, with the client-credentials grant; its keys can be replaced at any time. */
class RunningProvider {
  url = '';
  readonly requests: string[] = [];
  #server: Server | undefined;
  #listener: RequestListener = () => {};

  async start(): Promise<void> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port);
    const server = createServer((request, response) => {
      this.requests.push(request.url ?? '');
      this.#listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const stopped = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await stopped;
  }

  /** The first key signs from now on; all are published. */
  use(...keys: JWK[]): void {
    const provider = new Provider(this.url, {
      adapter: NoStorage,
      ttl: { ClientCredentials: 600 },
      jwks: { keys },
      clients: [
        {
          client_id: 'nursery',
          client_secret: 'only used in this test',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: SCOPE,
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    });
    this.#listener = provider.callback();
  }

  async token(scope = SCOPE): Promise<string> {
    const credentials = Buffer.from('nursery:only+used+in+this+test').toString('base64');
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: unknown };
    if (typeof token !== 'string') throw new Error(`no token, but status ${response.status}`);
    return token;
  }
}

describe('With a real provider, a JwtTokenVerifier', () => {
  let keys: [JWK, JWK, JWK];
  let provider: RunningProvider;
  let verifier: JwtTokenVerifier;
  let now: () => number;

  before(async () => {
    keys = [await signingKey('first'), await signingKey('second'), await signingKey('third')];
  });

  beforeEach(async () => {
    now = Date.now;
    provider = new RunningProvider();
    await provider.start();
    provider.use(keys[0]);
    verifier = new JwtTokenVerifier({
      issuer: provider.url,
      audience: AUDIENCE,
      scope: SCOPE,
      now: () => now(),
    });
  });

  afterEach(async () => {
    await verifier.close();
    await provider.stop();
  });

  const keyRequests = () => provider.requests.filter((path) => path === '/jwks').length;

  it('accepts its access tokens, with and without the scope', async () => {
    const client = await verifier.verify(await provider.token());
    expect(client.name).to.equal('nursery');
    expect([...client.permissions]).to.deep.equal(['create plants']);
    expect((await verifier.verify(await provider.token(''))).permissions.size).to.equal(0);
  });

  it('refuses its tokens for another audience', async () => {
    const other = new JwtTokenVerifier({
      issuer: provider.url,
      audience: 'https://animals.example',
    });
    try {
      await rejects(other.verify(await provider.token()), InvalidTokenError);
    } finally {
      await other.close();
    }
  });

  it('accepts every token while the keys are rotated twice', async () => {
    const [first, second, third] = keys;
    const rotation = [[first, second], [second, first], [second], [second, third], [third, second]];
    let ended = false;
    const accepted: string[] = [];
    const client = async () => {
      while (!ended) {
        const token = await provider.token();
        await verifier.verify(token);
        accepted.push(token);
      }
    };
    const clients = [client(), client(), client()];
    const rotate = async () => {
      for (const [step, published] of rotation.entries()) {
        const target = accepted.length + 10;
        while (accepted.length < target) await verifier.verify(await provider.token());
        now = () => Date.now() + (step + 1) * 10_000;
        provider.use(...published);
      }
      await verifier.verify(await provider.token());
    };
    await rotate().finally(() => {
      ended = true;
    });
    await Promise.all(clients);
    expect(accepted.length).to.be.above(50);
    expect(keyRequests()).to.equal(3);
  });

  it('goes on with known keys while it is stopped, and with new ones once it is back', async () => {
    const known = await provider.token();
    const fresh = await provider.token();
    provider.use(keys[1]);
    const unknown = await provider.token();
    provider.use(keys[0]);
    await verifier.verify(known);
    await provider.stop();
    now = () => Date.now() + 60_000;
    await verifier.verify(known);
    await verifier.verify(fresh);
    await rejects(verifier.verify(unknown), TokenVerifierUnavailableError);
    await verifier.ready();
    provider.use(keys[1]);
    await provider.start();
    await rejects(verifier.verify(unknown), TokenVerifierUnavailableError);
    now = () => Date.now() + 70_000;
    await verifier.verify(unknown);
    await rejects(verifier.verify(known), InvalidTokenError);
  });
});
