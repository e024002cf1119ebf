import { once } from 'node:events';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import {
  type AppDependencies,
  createServer,
  type EndedExchange,
  type OwnFailure,
} from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import type Koa from 'koa';
import { listening, TOKEN } from './listening-app.js';

/** A plant with an id that a double does not represent. */
export const MONSTERA = '{"id":9007199254740993,"name":"Monstera"}';

/** The dependencies of an application under test, what they have recorded, and the servers to close. */
export class Embedding {
  readonly plants = new Map<bigint, NewPlant>();
  readonly begun: string[] = [];
  readonly ended: EndedExchange[] = [];
  readonly failed: OwnFailure[] = [];
  readonly dependencies: AppDependencies = {
    createPlant: new CreatePlant(new MemoryPlantRepository(this.plants)),
    tokenVerifier: new StaticTokenVerifier([
      { sha256: tokenDigest(TOKEN), label: 'test' },
      { sha256: tokenDigest('visitor'), label: 'visitor', permissions: [] },
    ]),
    ready: async () => {},
    observer: {
      begun: () => void this.begun.push('begun'),
      ended: (exchange) => this.ended.push(exchange),
      failed: (failure) => this.failed.push(failure),
    },
  };
  readonly #closing: (() => Promise<unknown>)[] = [];

  /** Serves an application with the server of this package, or with that of Node.js. */
  async serve(app: Pick<Koa, 'callback'>, own = true): Promise<string> {
    const { observer } = this.dependencies;
    return this.listen(own ? createServer(app, { observer }) : createHttpServer(app.callback()));
  }

  async listen(server: Server, path?: string): Promise<string> {
    const { origin, close } = await listening(server, path);
    this.#closing.push(close);
    return origin;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }

  /** Checks exact ids, the form of a failure, and that the body is read as it was sent. */
  async expectPlantStore(send: Send): Promise<void> {
    const created = await send(MONSTERA, AUTHORIZED);
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

/** Returns an embedding that is a new one in each test of a suite. */
export function useEmbedding(): Embedding {
  const embedding = new Embedding();
  beforeEach(() => Object.assign(embedding, new Embedding()));
  afterEach(() => embedding.close());
  return embedding;
}

type Fields = Readonly<Record<string, string>>;

/** Sends a create in some way. */
export type Send = (
  body: string,
  headers: Fields,
) => Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>;

const AUTHORIZED = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Sends creates with `fetch`. */
export const fetching =
  (url: string): Send =>
  async (body, headers) => {
    const response = await fetch(url, { method: 'POST', headers, body });
    const fields = Object.fromEntries(response.headers);
    return { status: response.status, headers: fields, body: await response.text() };
  };

const HEADERS = { 'Content-Type': 'application/json', Origin: 'https://nursery.example' };

export function create(url: string, body = MONSTERA, token = TOKEN): Promise<Response> {
  const headers = { ...HEADERS, Authorization: `Bearer ${token}` };
  return fetch(url, { method: 'POST', headers, body });
}

/** Sends a create whose body arrives in pieces, after its headers. Resolves with the status. */
export async function createSlowly(url: string, body = MONSTERA): Promise<number> {
  const headers = { ...HEADERS, Authorization: `Bearer ${TOKEN}`, 'Content-Length': body.length };
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

/** Checks the form of a failure, and resolves with its number. */
export async function errorOf(response: Response): Promise<number> {
  expect(response.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
  const { error, message, ...rest } = (await response.json()) as Record<string, unknown>;
  expect(message).to.be.a('string');
  expect(rest).to.deep.equal({});
  return Number(error);
}
