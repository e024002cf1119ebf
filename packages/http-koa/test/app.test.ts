import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
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
  type AppOptions,
  createApp,
  createServer,
  type OwnFailure,
  StoppingError,
} from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import Koa from 'koa';
import { rawCreate, TOKEN } from './listening-app.js';

const sha256 = tokenDigest(TOKEN);
const monstera = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"tropical"}';

interface Setup extends AppOptions {
  add?: PlantRepository['add'];
  verify?: TokenVerifier['verify'];
  ready?: () => Promise<void>;
  begun?: () => void;
}

describe('The application', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Starts an application, and records the plants that it stores and the failures that it reports. */
  async function start({ add, verify, ready, begun, ...options }: Setup = {}) {
    const stored = new Map<bigint, NewPlant>();
    const reports: OwnFailure[] = [];
    const plants = new MemoryPlantRepository(stored);
    const tokens = new StaticTokenVerifier([{ sha256, label: 'test' }]);
    const app = createApp(
      {
        createPlant: new CreatePlant(add ? ({ ...plants, add } as PlantRepository) : plants),
        tokenVerifier: verify ? ({ verify } as TokenVerifier) : tokens,
        ready: ready ?? (async () => {}),
        observer: {
          begun: begun ?? (() => {}),
          ended() {},
          failed: (failure) => reports.push(failure),
        },
      },
      options,
    );
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const create = (body: string, headers: Record<string, string> = {}, path = '/plants') =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${TOKEN}`,
          'Content-Type': 'application/json',
          ...headers,
        },
        body,
      });
    return { app, server, url, create, stored, reports };
  }

  async function failureOf(response: Response): Promise<{ error: number; message: string }> {
    return (await response.json()) as { error: number; message: string };
  }

  it('creates a plant and responds with it, without its id', async () => {
    const { create, stored } = await start();
    const response = await create(monstera);
    expect(response.status).to.equal(200);
    expect(await response.text()).to.equal('{"name":"Monstera deliciosa","tag":"tropical"}');
    expect(stored.get(9007199254740993n)).to.deep.equal({
      id: 9007199254740993n,
      name: 'Monstera deliciosa',
      tag: 'tropical',
    });
  });

  it('distinguishes neighbouring ids beyond 2^53', async () => {
    const { create, stored } = await start();
    for (const id of ['9007199254740993', '9007199254740992']) {
      expect((await create(`{"id":${id},"name":"Monstera"}`)).status).to.equal(200);
    }
    expect([...stored.keys()]).to.deep.equal([9007199254740993n, 9007199254740992n]);
  });

  it('responds without a tag when the plant has none', async () => {
    const { create } = await start();
    expect(await (await create('{"id":1,"name":"Monstera"}')).text()).to.equal(
      '{"name":"Monstera"}',
    );
  });

  it('names every invalid field in one message', async () => {
    const { create } = await start();
    const message = async (body: string) => (await failureOf(await create(body))).message;
    const idRule = 'id must be a whole number from -9223372036854775808 to 9223372036854775807';
    expect(await message('{}')).to.equal('id is required; name is required');
    expect(await message('{"id":"1","name":5,"tag":null}')).to.equal(
      `${idRule}; name must be a string; tag must be a string, or absent`,
    );
    expect(await message('{"id":9223372036854775808,"name":""}')).to.equal(idRule);
    expect(await message('{"id":1.5,"name":""}')).to.equal(idRule);
    for (const body of ['[]', '1', '"a"', 'null', 'true']) {
      expect(await message(body)).to.equal('the body must be a JSON object');
    }
  });

  const refusals: Record<
    string,
    { error: number; body?: string; path?: string; headers?: Record<string, string> }
  > = {
    'without credentials': { error: 4010, headers: { Authorization: '' } },
    'with another scheme': { error: 4010, headers: { Authorization: 'Basic YTpi' } },
    'with an unknown token': { error: 4011, headers: { Authorization: 'Bearer unknown' } },
    'of another media type': { error: 4002, headers: { 'Content-Type': 'text/plain' } },
    'without a body': { error: 4001, body: '' },
    'with too large a body': { error: 4003, body: `{"a":"${'x'.repeat(16_384)}"}` },
    'with an invalid body': { error: 4004, body: '{' },
    'that is not a NewPlant': { error: 4005, body: '{}' },
    'to another path': { error: 4040, path: '/plants/' },
  };
  for (const [kind, { error, body = monstera, path, headers }] of Object.entries(refusals)) {
    it(`refuses a request ${kind} with ${error}, and stores nothing`, async () => {
      const { create, stored, reports } = await start();
      const response = await create(body, headers, path);
      expect((await failureOf(response)).error).to.equal(error);
      expect(stored.size).to.equal(0);
      expect(reports).to.deep.equal([]);
    });
  }

  it('refuses a client without the permission, and stores nothing', async () => {
    const visitor = authenticatedClient('visitor', []);
    const { create, stored } = await start({ verify: async () => visitor });
    const response = await create(monstera);
    expect(response.status).to.equal(403);
    expect(response.headers.get('WWW-Authenticate')).to.equal(
      'Bearer realm="plant-store", error="insufficient_scope"',
    );
    expect((await failureOf(response)).error).to.equal(4030);
    expect(stored.size).to.equal(0);
  });

  const outcomes: Record<string, { cause: Error; status: number; error: number; ours: boolean }> = {
    'a taken id': { cause: new PlantIdTakenError('x'), status: 400, error: 4006, ours: false },
    'an absent storage': {
      cause: new StorageUnavailableError('secret address'),
      status: 503,
      error: 5030,
      ours: true,
    },
    'an unknown outcome': {
      cause: new OutcomeUnknownError('secret address'),
      status: 503,
      error: 5031,
      ours: true,
    },
    'a bug': { cause: new TypeError('secret address'), status: 500, error: 5000, ours: true },
    'an error with a code of its own': {
      cause: Object.assign(new Error('secret address'), { code: 'ECONNREFUSED' }),
      status: 500,
      error: 5000,
      ours: true,
    },
  };
  for (const [what, { cause, status, error, ours }] of Object.entries(outcomes)) {
    it(`responds to ${what} with ${error}${ours ? ', and reports it once with its cause' : ''}`, async () => {
      const { create, reports } = await start({ add: () => Promise.reject(cause) });
      const response = await create(monstera, { 'X-Request-Id': 'request-7' });
      expect(response.status).to.equal(status);
      expect(response.headers.get('Retry-After')).to.equal(status === 503 ? '1' : null);
      const failure = await failureOf(response);
      expect(failure.error).to.equal(error);
      expect(failure.message).not.to.include('secret');
      expect(reports).to.deep.equal(ours ? [{ requestId: 'request-7', error, cause }] : []);
    });
  }

  it('never reports an outage of the token verifier as an invalid token', async () => {
    const outage = new TokenVerifierUnavailableError('down');
    const { create } = await start({ verify: () => Promise.reject(outage) });
    const response = await create(monstera);
    expect(response.status).to.equal(503);
    expect((await failureOf(response)).error).to.equal(5030);
  });

  it('refuses requests beyond `maxInFlight`, and accepts more after a response', async () => {
    const begun: (() => void)[] = [];
    const add = () => new Promise<void>((resolve) => begun.push(resolve));
    const { create } = await start({ maxInFlight: 1, add });
    const first = create(monstera);
    while (begun.length === 0) await new Promise(setImmediate);
    const refused = await create('not even JSON');
    expect(refused.status).to.equal(503);
    expect((await failureOf(refused)).error).to.equal(5032);
    begun[0]?.();
    expect((await first).status).to.equal(200);
    const third = create(monstera);
    while (begun.length === 1) await new Promise(setImmediate);
    begun[1]?.();
    expect((await third).status).to.equal(200);
  });

  it('gives the repository the rest of the deadline after the check of the token', async () => {
    const limits: number[] = [];
    const add = async (_: NewPlant, timeLimit: number) => void limits.push(timeLimit);
    let taken = 0;
    const verify = async () => {
      const begun = performance.now();
      await wait(20);
      taken = performance.now() - begun;
      return authenticatedClient('test', ['create plants']);
    };
    const { create } = await start({ requestDeadline: 1234, add, verify });
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

  it('pauses reading from a connection with many waiting requests, and responds to all of them', async () => {
    const release = new Map<bigint, () => void>();
    const add = ({ id }: NewPlant) => new Promise<void>((resolve) => release.set(id, resolve));
    const { server, url } = await start({ add });
    const accepted = once(server, 'connection');
    const client = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    const [socket] = await accepted;
    const paused = once(socket, 'pause');
    const requests = Array.from({ length: 200 }, (_, id) => rawCreate(`{"id":${id},"name":""}`));
    client.write(requests.slice(0, 100).join(''));
    await paused;
    client.write(requests.slice(100).join(''));
    let responses = '';
    for (let id = 0n; id < 200n; id += 1n) {
      while (!release.has(id)) await new Promise(setImmediate);
      release.get(id)?.();
      while (responses.split('{"name":""}').length <= id + 1n)
        responses += (await once(client, 'data'))[0];
    }
    client.destroy();
  });

  const invalid: [name: string, options: AppOptions, error: RegExp][] = [
    ['a pattern for a base path', { basePath: '/:store' }, /basePath/],
    ['a base path that ends with a slash', { basePath: '/store/' }, /basePath/],
    ['a limit that is not a number', { bodyLimit: Number.NaN }, /bodyLimit/],
    ['a limit of 0 operations in flight', { maxInFlight: 0 }, /maxInFlight/],
    ['an endless deadline', { requestDeadline: Number.POSITIVE_INFINITY }, /requestDeadline/],
  ];
  for (const [name, options, error] of invalid) {
    it(`refuses ${name}`, async () => {
      const refused = await start(options).catch((reason: unknown) => reason);
      expect(refused).to.be.an('error').with.property('message').that.matches(error);
    });
  }

  it('refuses a server with invalid limits', () => {
    for (const name of ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'maxConnections']) {
      expect(() => createServer(new Koa(), { [name]: -1 })).to.throw(RangeError, name);
    }
  });

  it('serves the operation below its base path, and the health checks without it', async () => {
    const { url, create } = await start({ basePath: '/store/v1' });
    expect((await create(monstera, {}, '/store/v1/plants')).status).to.equal(200);
    expect((await create(monstera)).status).to.equal(404);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
  });

  it('is alive but not ready while it is stopping', async () => {
    const { url } = await start({ ready: () => Promise.reject(new StoppingError('stopping')) });
    const response = await fetch(`${url}/readyz`);
    expect(response.status).to.equal(503);
    expect((await failureOf(response)).error).to.equal(5032);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
  });

  it('responds with why it is not ready, and reports only a bug to the observer', async () => {
    for (const [cause, status, error] of [
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
