import { once } from 'node:events';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreatePlant,
  type NewPlant,
  type PlantRepository,
  type TokenVerifier,
} from '@plant-store/domain';
import { createApp as createPlantStore } from '@plant-store/http-koa';
import {
  type RoutesDependencies as AppDependencies,
  type EndedRequest,
  type HttpEvent,
  hostedBody,
  limited,
  observed,
  operationRoutes,
  type RoutesOptions,
  refuseWith,
} from '@plant-store/http-operations';
import { createServer, type ServerOptions } from '@plant-store/http-server';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import type { default as Koa, Middleware } from 'koa';

/** The token that an application under test accepts. */
export const TOKEN = 'a-token-for-tests';

/** A plant whose id a double cannot represent. */
export const MONSTERA = '{"id":9007199254740993,"name":"Monstera"}';

export const tokenVerifier: TokenVerifier = new StaticTokenVerifier([
  { sha256: tokenDigest(TOKEN), label: 'test' },
  { sha256: tokenDigest('visitor'), label: 'visitor', permissions: [] },
]);

/** Creates the application of the service, which also runs in hosts without a server of Node.js. */
export function createApp(
  { createPlant, admit, ready, observer }: AppDependencies,
  options: RoutesOptions = {},
) {
  const useCase = limited(createPlant, { ...options, ...(admit && { admit }) });
  const around = [observed(observer), hostedBody];
  const routes = [operationRoutes(ready, options)];
  const app = createPlantStore(useCase, { ...options, around, routes });
  app.silent = true;
  return app;
}

/** The dependencies of an application under test, what they recorded, and the servers to close. */
export class Embedding {
  readonly plants = new Map<bigint, NewPlant>();
  readonly events: HttpEvent[] = [];
  readonly dependencies: AppDependencies = {
    createPlant: new CreatePlant(tokenVerifier, new MemoryPlantRepository(this.plants)),
    ready: async () => {},
    observer: (event) => void this.events.push(event),
  };
  readonly #closing: (() => unknown)[] = [];

  get ended(): EndedRequest[] {
    return this.events.filter((it) => it.type === 'request ended');
  }

  get failed() {
    return this.events.filter((it) => it.type === 'request failed');
  }

  /** Serves an application with these dependencies and options on a server of `createServer`. */
  async start(changed: Partial<AppDependencies> & RoutesOptions & ServerOptions = {}) {
    const all = { ...this.dependencies, ...changed };
    const app = createApp(all, all);
    const server = createServer(app.callback(), { refuse: refuseWith(all.observer), ...all });
    return { app, server, url: await this.listen(server) };
  }

  /** Serves an application on a server of `createServer`. */
  serve(app: Pick<Koa, 'callback'>): Promise<string> {
    const { observer } = this.dependencies;
    return this.listen(createServer(app.callback(), { refuse: refuseWith(observer) }));
  }

  /** Serves an application on a server of Node.js. */
  serveOnNode(app: Pick<Koa, 'callback'>): Promise<string> {
    return this.listen(createHttpServer(app.callback()));
  }

  /** Makes a server listen on a free port. */
  async listen(server: Server): Promise<string> {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    this.#closing.push(async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  /** Checks exact ids, the format of a failure, and that the body is read as it was sent, up to the limit by default. */
  async expectPlantStore(send: Send): Promise<void> {
    const created = await send(MONSTERA.padEnd(16_384), AUTHORIZED);
    expect([created.status, created.body]).to.deep.equal([200, '{"name":"Monstera"}']);
    expect(`${created.headers['content-length']}`).to.equal('19');
    expect([...this.plants.keys()]).to.deep.equal([9007199254740993n]);
    const unknown = { ...AUTHORIZED, authorization: 'Bearer unknown' };
    const refused: [body: string, headers: Fields, status: number, error: number][] = [
      [MONSTERA, AUTHORIZED, 400, 4006],
      ['{', AUTHORIZED, 400, 4004],
      ['', AUTHORIZED, 400, 4001],
      [MONSTERA.padEnd(16_385), AUTHORIZED, 400, 4003],
      [MONSTERA, { ...AUTHORIZED, 'content-type': 'text/plain' }, 400, 4002],
      [MONSTERA, { 'content-type': 'application/json' }, 401, 4010],
      [MONSTERA, unknown, 401, 4011],
    ];
    for (const [sent, fields, status, error] of refused) {
      const { headers, body, ...response } = await send(sent, fields);
      expect([response.status, JSON.parse(body).error]).to.deep.equal([status, error]);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(headers['x-request-id']).to.match(/^[\da-f-]{36}$/);
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers).not.to.have.property('0');
    }
    const statuses = [200, ...refused.map(([, , status]) => status)];
    expect(this.ended.map(({ status }) => status)).to.deep.equal(statuses);
    expect(this.failed).to.deep.equal([]);
  }
}

/** Returns an embedding that starts afresh in each test of a suite. */
export function useEmbedding(): Embedding {
  const embedding = new Embedding();
  beforeEach(() => Object.assign(embedding, new Embedding()));
  afterEach(() => embedding.close());
  return embedding;
}

type Fields = Readonly<Record<string, string>>;

export type Send = (
  body: string,
  headers: Fields,
) => Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>;

/** The headers of an authorized create. */
export const AUTHORIZED = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  origin: 'https://nursery.example',
};

/** Sends a create with `fetch`. Give header names in lower case. */
export function create(url: string, body = MONSTERA, headers: Fields = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { ...AUTHORIZED, ...headers }, body });
}

/** Sends a create whose body arrives in pieces, after its headers. Resolves with the status. */
export async function createSlowly(url: string, body = MONSTERA): Promise<number> {
  const headers = { ...AUTHORIZED, 'content-length': body.length };
  const client = request(url, { method: 'POST', headers });
  client.flushHeaders();
  for (const character of body) {
    client.write(character);
    await new Promise(setImmediate);
  }
  const [response] = await once(client.end(), 'response');
  response.resume();
  return response.statusCode;
}

/** Returns the bytes of a request to create a plant with this body. */
export function rawCreate(body: string): string {
  return [
    'POST /plants HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

/** Checks the format of a failure, and resolves with its number. */
export async function errorOf(response: Response): Promise<number> {
  expect(response.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
  const { error, message, ...rest } = (await response.json()) as Record<string, unknown>;
  expect(message).to.be.a('string');
  expect(rest).to.deep.equal({});
  return Number(error);
}

/** Returns the dependency on a store that adds plants like this. */
export function adding(add: PlantRepository['add'], verifier = tokenVerifier) {
  const plants = { add, ready: async () => {}, close: async () => {} };
  return { createPlant: new CreatePlant(verifier, plants) };
}

/** Returns dependencies that authorize late, after `verify`. `waiting` resolves when they wait, `ended` after the request. */
export function verifyingLate({ createPlant, observer, ...others }: AppDependencies) {
  const [waiting, verify, ended] = [signal(), signal(), signal()];
  const authorize = async (token: string) => {
    waiting.give();
    await verify.given;
    return createPlant.authorize(token);
  };
  const dependencies: AppDependencies = {
    ...others,
    createPlant: { authorize } as CreatePlant,
    observer(event) {
      observer(event);
      if (event.type === 'request ended') ended.give();
    },
  };
  return { dependencies, waiting: waiting.given, verify: verify.give, ended: ended.given };
}

/** Creates a middleware that answers with a 408 when this resolves. */
export const timeLimit =
  (passed: Promise<unknown>): Middleware =>
  (ctx, next) =>
    Promise.race([next(), passed.then(() => ctx.throw(408, 'too late'))]);

/** Returns a promise, and what resolves it. */
export function signal() {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give: () => give() };
}
