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
  begun = 0;
  readonly ended: EndedExchange[] = [];
  readonly failed: OwnFailure[] = [];
  readonly dependencies: AppDependencies = {
    createPlant: new CreatePlant(new MemoryPlantRepository(this.plants)),
    tokenVerifier: new StaticTokenVerifier([{ sha256: tokenDigest(TOKEN), label: 'test' }]),
    ready: async () => {},
    observer: {
      begun: () => {
        this.begun += 1;
      },
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

  async listen(server: Server): Promise<string> {
    const { origin, close } = await listening(server);
    this.#closing.push(close);
    return origin;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }

  /** Checks the routes of an application. */
  async expectPlantStore(url: string): Promise<void> {
    const created = await create(`${url}/plants`);
    expect(created.status).to.equal(200);
    expect(await created.text()).to.equal('{"name":"Monstera"}');
    expect(created.headers.get('Content-Length')).to.equal('19');
    expect([...this.plants.keys()]).to.deep.equal([9007199254740993n]);
    for (const [response, status, error] of [
      [await create(`${url}/plants`), 400, 4006],
      [await create(`${url}/plants`, '{'), 400, 4004],
      [await create(`${url}/plants`, '{}', 'unknown'), 401, 4011],
      [await fetch(`${url}/plants`, { method: 'PUT' }), 405, 4050],
    ] as const) {
      expect(response.status).to.equal(status);
      expect(await errorOf(response)).to.equal(error);
      expect(response.headers.get('X-Request-Id')).to.match(/^[\w-]{12}-\d+$/);
      expect(response.headers.get('Cache-Control')).to.equal('no-store');
      expect(response.headers.get('Allow')).to.equal(error === 4050 ? 'POST' : null);
      const isUnread = error === 4011;
      expect(response.headers.get('Connection')).to.equal(isUnread ? 'close' : 'keep-alive');
    }
    expect(this.ended.map(({ status }) => status)).to.deep.equal([200, 400, 400, 401, 405]);
    expect(this.failed).to.deep.equal([]);
  }
}

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
