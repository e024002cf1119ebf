import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Client,
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { HttpError } from '@plant-store/http-koa';
import {
  type Admit,
  failures,
  plantStoreRoutes,
  type RoutesOptions,
  StoppingError,
} from '@plant-store/http-operations';
import { expect } from 'chai';
import {
  AUTHORIZED,
  adding,
  create,
  errorOf,
  MONSTERA,
  tokenVerifier,
  useEmbedding,
} from './support/embedding.js';

const LACKS_PERMISSION = 'the token lacks the permission to create plants';
const gardener: Client = { name: 'test', permissions: new Set(['create plants']) };

describe('The application', () => {
  const embedding = useEmbedding();

  /** Starts an application whose plants and failures `embedding` records. */
  async function start(changed: Parameters<typeof embedding.start>[0] = {}) {
    const { app, url } = await embedding.start(changed);
    const send = (body?: string, headers?: Readonly<Record<string, string>>) =>
      create(`${url}/plants`, body, headers);
    return { app, url, send };
  }

  const verifying = (verify: TokenVerifier['verify']) =>
    adding(async () => undefined, { ...tokenVerifier, verify });

  it('calls `admit` after checking token and permission, before reading the body', async () => {
    const message = 'one create a minute';
    const asked: string[] = [];
    const admit: Admit = ({ name }) => {
      asked.push(name);
      if (asked.length === 1) return;
      throw new HttpError({ ...failures.TOO_MANY_REQUESTS, message, retryAfter: 60 });
    };
    const { send } = await start({ admit });
    expect((await send('{}', { authorization: 'Bearer unknown' })).status).to.equal(401);
    expect((await send('{}', { authorization: 'Bearer visitor' })).status).to.equal(403);
    expect((await send()).status).to.equal(200);
    const refused = await send('{', { 'content-type': 'text/plain' });
    expect([refused.status, refused.headers.get('Retry-After')]).to.deep.equal([429, '60']);
    expect(await refused.json()).to.deep.equal({ error: 4290, message });
    expect(asked).to.deep.equal(['test', 'test']);
    expect([embedding.plants.size, embedding.failed.length]).to.deep.equal([1, 0]);
    expect(embedding.ended.at(-1)).to.include({ error: 4290 });
  });

  it('reports every request exactly once with its request id, even an unparsable one', async () => {
    const begun = performance.now();
    const { url, send } = await start();
    await send(MONSTERA, { 'x-request-id': 'a' });
    await send(MONSTERA, { 'x-request-id': 'b', authorization: 'Bearer unknown' });
    await send(MONSTERA, { 'x-request-id': 'c', authorization: 'Bearer visitor' });
    await fetch(`${url}/elsewhere`, { method: 'PROPFIND', headers: { 'x-request-id': 'd' } });
    await fetch(`${url}/plants`, { method: 'PUT', headers: { 'x-request-id': 'e' } });
    const client = connect(Number(new URL(url).port), '127.0.0.1').end('GARBAGE\r\n\r\n');
    const [, madeId] = /^X-Request-Id: (.*)\r$/m.exec((await client.toArray()).join('')) ?? [];
    const none = { error: undefined, refusal: undefined, parserError: undefined };
    const fine = { type: 'request ended', ...none };
    const post = { ...fine, method: 'POST', route: '/plants' };
    const other = { ...fine, method: '_OTHER', route: undefined, client: undefined };
    const durations = embedding.ended.map(({ durationMs }) => durationMs);
    const ids = embedding.ended.map(({ requestId }) => requestId);
    expect(embedding.ended.map(({ durationMs, requestId, request, ...it }) => it)).to.deep.equal([
      { ...post, status: 200, client: 'test' },
      { ...post, status: 401, client: undefined, error: 4011, refusal: 'the token is unknown' },
      { ...post, status: 403, client: 'visitor', error: 4030, refusal: LACKS_PERMISSION },
      { ...other, status: 404, error: 4040 },
      { ...other, method: 'PUT', route: '/plants', status: 405, error: 4050 },
      { ...other, status: 400, error: 4000, parserError: 'HPE_INVALID_METHOD' },
    ]);
    expect(ids).to.deep.equal(['a', 'b', 'c', 'd', 'e', madeId]);
    expect(Math.max(...durations)).to.be.within(0, performance.now() - begun);
    expect(embedding.events.filter((it) => it.type === 'request begun')).to.have.length(6);
  });

  const secret = 'secret address';
  const asking = { status: 429, expose: true };
  const coded = Object.assign(new Error(secret), { code: 'ECONNREFUSED', ...asking });
  const outcomes = [
    ['add', new PlantIdTakenError(secret), 400, 4006],
    ['add', new StoreUnavailableError(secret), 503, 5030],
    ['add', new OutcomeUnknownError(secret), 503, 5031],
    ['add', coded, 500, 5000],
    ['verify', new TokenVerifierUnavailableError(secret), 503, 5030],
    ['admit', coded, 500, 5000],
  ] as const;
  for (const [port, cause, status, error] of outcomes) {
    it(`responds with ${error} to ${cause.name} from \`${port}\`, and reports only service faults`, async () => {
      const reject = () => Promise.reject(cause);
      const ports = { add: adding(reject), verify: verifying(reject), admit: { admit: reject } };
      const { send } = await start(ports[port]);
      const response = await send(MONSTERA, { 'x-request-id': 'request-7' });
      expect(response.status).to.equal(status);
      expect(response.headers.get('Retry-After')).to.equal(status === 503 ? '1' : null);
      const { message, ...rest } = (await response.json()) as { message: string };
      expect(rest).to.deep.equal({ error });
      expect(message).not.to.include('secret');
      const reported = [{ type: 'request failed', requestId: 'request-7', error, cause }];
      expect(embedding.failed).to.deep.equal(status < 500 ? [] : reported);
      expect(embedding.plants.size).to.equal(0);
    });
  }

  it('refuses requests beyond `maxInFlight`, which is no failure, and accepts more after a response', async () => {
    const begun: (() => void)[] = [];
    const add = () => new Promise<void>((resolve) => begun.push(resolve));
    const { send } = await start({ ...adding(add), maxInFlight: 1 });
    for (const at of [0, 1]) {
      let early: Response | undefined;
      const first = send();
      void first.then((response) => (early = response));
      while (begun.length === at && early === undefined) await new Promise(setImmediate);
      expect(early?.status, 'a response before the plant is stored').to.equal(undefined);
      const refused = await send('{"id":2,"name":""}');
      expect(refused.headers.get('Retry-After')).to.equal('1');
      expect(await errorOf(refused)).to.equal(5032);
      begun[at]?.();
      expect((await first).status).to.equal(200);
    }
    expect(embedding.failed).to.deep.equal([]);
  });

  it('gives the repository the time left after verifying the token', async () => {
    const limits: number[] = [];
    const add = async (_: NewPlant, timeLimitMs: number) => void limits.push(timeLimitMs);
    let taken = 0;
    const verify = async () => {
      const begun = performance.now();
      await wait(20);
      taken = performance.now() - begun;
      return gardener;
    };
    const ports = adding(add, { ...tokenVerifier, verify });
    await (await start({ ...ports, timeLimitMs: 60_000 })).send();
    expect(limits[0]).to.be.within(1, 60_000 - taken);
  });

  it('counts the deadline from the last byte of the body', async () => {
    const limits: number[] = [];
    const add = async (_: NewPlant, timeLimitMs: number) => void limits.push(timeLimitMs);
    const calls = new EventEmitter();
    const admitted = once(calls, 'admit');
    const admit = () => void calls.emit('admit');
    const { url } = await start({ ...adding(add), admit, timeLimitMs: 60_000 });
    const headers = { ...AUTHORIZED, 'content-length': MONSTERA.length };
    const sentAt = performance.now();
    const client = request(`${url}/plants`, { method: 'POST', headers });
    client.write(MONSTERA.slice(0, -1));
    await admitted;
    // By then, the time that the verification took, which is counted, is known.
    await new Promise(setImmediate);
    const verifiedMs = performance.now() - sentAt;
    await wait(2 * verifiedMs + 20);
    const endedAt = performance.now();
    client.end(MONSTERA.slice(-1));
    const [response] = await once(client, 'response');
    expect(response.resume().statusCode).to.equal(200);
    const countedMs = verifiedMs + (performance.now() - endedAt);
    expect(limits[0]).to.be.within(60_000 - countedMs, 60_000);
  });

  it('refuses invalid options, and states their rules', () => {
    const path = "basePath must be empty or segments like /store/v1, found '/:store'";
    const invalid: [options: RoutesOptions, error: string][] = [
      [{ basePath: '/:store' }, path],
      [{ basePath: '/store/' }, 'basePath'],
      [{ bodyLimit: Number.NaN }, 'bodyLimit must be a whole number above 0, found NaN'],
      [{ maxInFlight: 0 }, 'maxInFlight'],
      [{ timeLimitMs: Number.POSITIVE_INFINITY }, 'timeLimitMs'],
    ];
    for (const [options, error] of invalid) {
      expect(() => plantStoreRoutes(embedding.dependencies, options)).to.throw(error);
    }
  });

  it('responds why it is not ready, and reports only bugs to the observer', async () => {
    for (const [cause, status, error] of [
      [new StoppingError(), 503, 5032],
      [new StoreUnavailableError(secret), 503, 5030],
      [new TypeError(secret), 500, 5000],
    ] as const) {
      const { url } = await start({ ready: () => Promise.reject(cause) });
      const response = await fetch(`${url}/readyz`);
      expect([response.status, await errorOf(response)]).to.deep.equal([status, error]);
      expect(embedding.failed.map((it) => it.error)).to.deep.equal(status === 500 ? [5000] : []);
    }
  });

  it('fails one request, not the process, when an observer throws', async () => {
    const observer = () => {
      throw new TypeError('a bug');
    };
    const { url } = await start({ observer });
    for (const path of ['/livez', '/livez']) {
      expect((await fetch(url + path)).status).to.equal(500);
    }
  });
});
