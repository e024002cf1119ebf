import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  authenticatedClient,
  CreatePlant,
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import {
  type Admit,
  type AppOptions,
  createApp,
  HttpError,
  StoppingError,
} from '@plant-store/http-koa';
import { expect } from 'chai';
import { Embedding } from './support/embedding.js';
import { TOKEN } from './support/listening-app.js';

const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
const monstera = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"tropical"}';

interface Setup extends AppOptions {
  add?: PlantRepository['add'];
  verify?: TokenVerifier['verify'];
  ready?: () => Promise<void>;
  admit?: Admit;
  begun?: () => void;
}

describe('The application', () => {
  let embedding: Embedding;
  beforeEach(() => {
    embedding = new Embedding();
  });
  afterEach(() => embedding.close());

  /** Starts an application, and records the plants that it stores and the failures that it reports. */
  async function start({ add, verify, ready, admit, begun, ...options }: Setup = {}) {
    const { dependencies, plants: stored, failed: reports } = embedding;
    const repository = add && { add, ready: async () => {}, close: async () => {} };
    const app = createApp(
      {
        createPlant: repository ? new CreatePlant(repository) : dependencies.createPlant,
        tokenVerifier: verify ? ({ verify } as TokenVerifier) : dependencies.tokenVerifier,
        ready: ready ?? dependencies.ready,
        ...(admit && { admit }),
        observer: { ...dependencies.observer, ...(begun && { begun }) },
      },
      options,
    );
    const url = await embedding.serve(app);
    const create = (body: string, headers: Record<string, string> = {}, path = '/plants') =>
      fetch(url + path, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
    return { app, url, create, stored, reports };
  }

  async function failureOf(response: Response): Promise<{ error: number; message: string }> {
    return (await response.json()) as { error: number; message: string };
  }

  it('refuses a client without the permission, and reports the refusal', async () => {
    const visitor = authenticatedClient('visitor', []);
    const { create, stored } = await start({ verify: async () => visitor });
    expect((await create(monstera)).status).to.equal(403);
    expect(stored.size).to.equal(0);
    expect(embedding.ended[0]).to.include({ client: 'visitor', refusal: 'permission' });
  });

  it('asks `admit` about a client whose token is valid, before the body, and responds with its failure', async () => {
    const asked: string[] = [];
    const admit: Admit = ({ name }) => {
      asked.push(name);
      if (asked.length === 1) return;
      throw new HttpError('TOO_MANY_REQUESTS', 'one create a minute', { retryAfter: 60 });
    };
    const { create, stored, reports } = await start({ admit });
    expect((await create('{}', { Authorization: 'Bearer unknown' })).status).to.equal(401);
    expect((await create(monstera)).status).to.equal(200);
    const refused = await create('{', { 'Content-Type': 'text/plain' });
    expect([refused.status, refused.headers.get('Retry-After')]).to.deep.equal([429, '60']);
    const expected = { error: 4290, message: 'one create a minute' };
    expect(await refused.json()).to.deep.equal(expected);
    expect(asked).to.deep.equal(['test', 'test']);
    expect([stored.size, reports.length]).to.deep.equal([1, 0]);
    expect(embedding.ended.at(-1)).to.include({ client: 'test', error: 4290 });
  });

  it('treats an error of `admit` that is not listed as a bug', async () => {
    const { create, stored, reports } = await start({ admit: () => Promise.reject(coded) });
    expect((await create(monstera)).status).to.equal(500);
    expect([stored.size, reports[0]?.cause]).to.deep.equal([0, coded]);
  });

  it('reports each request once, and how it ended, also when it cannot be parsed', async () => {
    const begun = performance.now();
    const { url, create } = await start();
    await create(monstera, { 'X-Request-Id': 'a' });
    await create(monstera, { 'X-Request-Id': 'b', Authorization: 'Bearer unknown' });
    await fetch(`${url}/elsewhere`, { method: 'PROPFIND', headers: { 'X-Request-Id': 'c' } });
    const client = connect(Number(new URL(url).port), '127.0.0.1').resume();
    await once(client.end('GARBAGE\r\n\r\n'), 'close');
    const post = { method: 'POST', route: '/plants', error: undefined, refusal: undefined };
    const other = { ...post, method: '_OTHER', route: undefined, client: undefined };
    const durations = embedding.ended.map(({ durationMs }) => durationMs);
    const ids = embedding.ended.map(({ requestId }) => requestId);
    expect(embedding.ended.map(({ durationMs, requestId, request, ...it }) => it)).to.deep.equal([
      { ...post, status: 200, client: 'test' },
      { ...post, status: 401, client: undefined, error: 4011, refusal: 'unknown token' },
      { ...other, status: 404, error: 4040 },
      { ...other, status: 400, error: 4000 },
    ]);
    expect(ids.slice(0, 3)).to.deep.equal(['a', 'b', 'c']);
    expect(Math.max(...durations)).to.be.within(0, performance.now() - begun);
    expect(embedding.begun).to.equal(4);
  });

  const secret = 'secret address';
  const coded = Object.assign(new Error(secret), { code: 'ECONNREFUSED' });
  const outcomes: [what: string, cause: Error, status: number, error: number][] = [
    ['a taken id', new PlantIdTakenError(secret), 400, 4006],
    ['an absent storage', new StorageUnavailableError(secret), 503, 5030],
    ['an unknown outcome', new OutcomeUnknownError(secret), 503, 5031],
    ['an error with a code of its own', coded, 500, 5000],
    ['an outage of the token verifier', new TokenVerifierUnavailableError(secret), 503, 5030],
  ];
  for (const [what, cause, status, error] of outcomes) {
    it(`responds to ${what} with ${error}, and reports its cause once if it is a fault of the service`, async () => {
      const reject = () => Promise.reject(cause);
      const isOfVerifier = cause instanceof TokenVerifierUnavailableError;
      const { create, reports } = await start(isOfVerifier ? { verify: reject } : { add: reject });
      const response = await create(monstera, { 'X-Request-Id': 'request-7' });
      expect(response.status).to.equal(status);
      expect(response.headers.get('Retry-After')).to.equal(status === 503 ? '1' : null);
      const failure = await failureOf(response);
      expect(failure.error).to.equal(error);
      expect(failure.message).not.to.include('secret');
      const reported = [{ requestId: 'request-7', error, cause }];
      expect(reports).to.deep.equal(status < 500 ? [] : reported);
    });
  }

  it('refuses requests beyond `maxInFlight`, and accepts more after a response', async () => {
    const begun: (() => void)[] = [];
    const add = () => new Promise<void>((resolve) => begun.push(resolve));
    const { create } = await start({ maxInFlight: 1, add });
    const first = create(monstera);
    while (begun.length === 0) await new Promise(setImmediate);
    expect((await failureOf(await create('not even JSON'))).error).to.equal(5032);
    begun[0]?.();
    expect((await first).status).to.equal(200);
    const third = create(monstera);
    while (begun.length === 1) await new Promise(setImmediate);
    begun[1]?.();
    expect((await third).status).to.equal(200);
  });

  it('accepts bodies of at most 16 KiB by default', async () => {
    const { create } = await start();
    expect((await create(monstera.padEnd(16_384))).status).to.equal(200);
    const { message } = await failureOf(await create(monstera.padEnd(16_385)));
    expect(message).to.equal('the body must have at most 16384 bytes');
  });

  it('gives the repository the rest of the deadline after the check of the token', async () => {
    const limits: number[] = [];
    const add = async (_: NewPlant, timeLimitMs: number) => void limits.push(timeLimitMs);
    let taken = 0;
    const verify = async () => {
      const begun = performance.now();
      await wait(20);
      taken = performance.now() - begun;
      return authenticatedClient('test', ['create plants']);
    };
    const { create } = await start({ requestDeadlineMs: 1234, add, verify });
    await create(monstera);
    expect(limits[0]).to.be.within(1, 1234 - taken);
  });

  it('does not pass a token longer than 8 KiB to the verifier', async () => {
    const asked: number[] = [];
    const verify = async (token: string) => {
      asked.push(token.length);
      return authenticatedClient('test', ['create plants']);
    };
    const { create } = await start({ verify });
    for (const length of [8192, 8193]) {
      await create(monstera, { Authorization: `Bearer ${'a'.repeat(length)}` });
    }
    expect(asked).to.deep.equal([8192]);
  });

  it('refuses invalid options with their rules', () => {
    const path = "basePath must be empty or segments like /store/v1, found '/:store'";
    const invalid: [options: AppOptions, error: string][] = [
      [{ basePath: '/:store' }, path],
      [{ basePath: '/store/' }, 'basePath'],
      [{ bodyLimit: Number.NaN }, 'bodyLimit must be a whole number above 0, found NaN'],
      [{ maxInFlight: 0 }, 'maxInFlight'],
      [{ requestDeadlineMs: Number.POSITIVE_INFINITY }, 'requestDeadlineMs'],
    ];
    for (const [options, error] of invalid) {
      expect(() => createApp(embedding.dependencies, options)).to.throw(error);
    }
  });

  it('responds with why it is not ready, and reports only a bug to the observer', async () => {
    for (const [cause, status, error] of [
      [new StoppingError('stopping'), 503, 5032],
      [new StorageUnavailableError('secret address'), 503, 5030],
      [new TypeError('secret address'), 500, 5000],
    ] as const) {
      const { url, reports } = await start({ ready: () => Promise.reject(cause) });
      const response = await fetch(`${url}/readyz`);
      expect(response.status).to.equal(status);
      expect((await failureOf(response)).error).to.equal(error);
      expect(reports.map((report) => report.error)).to.deep.equal(status === 500 ? [5000] : []);
    }
  });

  it('fails one request, not the process, when an observer throws', async () => {
    const begun = () => {
      throw new TypeError('a bug');
    };
    const { app, url } = await start({ begun });
    app.silent = true;
    for (const path of ['/livez', '/livez']) {
      expect((await fetch(url + path)).status).to.equal(500);
    }
  });
});
