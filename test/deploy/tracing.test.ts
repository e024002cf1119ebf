import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { endAll, type Service } from '@plant-store/service-process';
import { expect } from 'chai';
import { snippet, withReal } from '../documents/support/snippet.js';
import { RawConnection } from '../http-contract/support/raw-connection.js';
import { lines, type Parts, plantText, request } from '../http-contract/support/requests.js';
import { startService } from '../http-contract/support/service.js';
import { root } from '../root.js';
import {
  isPlant,
  isServer,
  parentOf,
  requestIdOf,
  type Span,
  send,
  strays,
  tracedCreate,
  traceOf,
} from './support/tracing.js';

const PRELOAD = pathToFileURL(join(root, 'test/deploy/tracing/preload.js')).href;
/** The flags of the command in docs/tracing.md that starts the service, with the exporter of this test. */
const FLAGS = withReal(snippet('docs/tracing.md', 'node --import').slice('node '.length), {
  '@opentelemetry/auto-instrumentations-node/register': PRELOAD,
  ' packages/app/bin/plant-store.js\n': '',
});

const MONGODB = '@opentelemetry/instrumentation-mongodb';
const CONNECTIONS = 30;
/** The number of requests on each connection. */
const REQUESTS = 10;

/** The spans of a service that has stopped, and the log lines of its requests. */
interface Traces {
  readonly spans: readonly Span[];
  readonly log: readonly { requestId?: string; trace_id?: string }[];
}

describe('A service with instrumentation preloaded', function () {
  this.timeout(120_000);
  let folder: string;
  const connections: RawConnection[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-spans-'));
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.destroy();
    endAll();
  });
  after(() => rmSync(folder, { recursive: true }));

  const spansFile = () => join(folder, 'spans.json');

  function start(settings: Record<string, string> = {}): Promise<Service> {
    const usual = { LOG_LEVEL: 'debug', NODE_OPTIONS: FLAGS, SPANS_FILE: spansFile() };
    return startService({ ...usual, ...settings });
  }

  async function connect({ port }: Service): Promise<RawConnection> {
    const connection = await RawConnection.open(port);
    connections.push(connection);
    return connection;
  }

  async function tracesOf(service: Service): Promise<Traces> {
    expect(await service.stop(), service.stderr()).to.equal(0);
    const lines = service.stdout().trim().split('\n');
    const log: Traces['log'] = lines.map((line) => JSON.parse(line));
    const spans: Span[] = JSON.parse(readFileSync(spansFile(), 'utf8'));
    return { spans, log: log.filter(({ requestId }) => requestId !== undefined) };
  }

  const all = Array.from({ length: CONNECTIONS * REQUESTS }, (_, index) => index);

  it('keeps many concurrent requests in their own traces, and one that cannot be parsed in none', async () => {
    const service = await start();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, at) => {
        const connection = await connect(service);
        const mine = all.slice(at * REQUESTS, (at + 1) * REQUESTS);
        const statuses = await send(connection, at % 2 === 0 ? [mine] : mine.map((it) => [it]));
        expect(statuses).to.deep.equal(mine.map((index) => (isPlant(index) ? 200 : 400)));
      }),
    );
    const connection = await connect(service);
    const last = all.length;
    connection.send(Buffer.concat([tracedCreate(last), lines('NOT HTTP')]));
    const { fields } = (await connection.responsesUntilEnd())[1] ?? { fields: [] };
    const unparsed = new Map(fields).get('x-request-id');
    const { spans, log } = await tracesOf(service);
    expectSame(
      spans.filter(isServer).map((it) => [it.traceId, it.parentSpanId, it.name, routeOf(it)]),
      [...all, last].map((at) => [traceOf(at), parentOf(at), 'POST /plants', '/plants']),
    );
    expectSame(
      spans.filter(({ name }) => name === 'router - /plants').map(({ traceId }) => [traceId]),
      [...all, last].map((index) => [traceOf(index)]),
    );
    expectSame(
      spans.filter(({ name }) => name === 'CreatePlant').map((it) => [plantOf(it), it.traceId]),
      all.filter(isPlant).map((index) => [index, traceOf(index)]),
    );
    expectSame(
      log.map(({ requestId, trace_id }) => [requestId, trace_id]),
      [...[...all, last].map((at) => [requestIdOf(at), traceOf(at)]), [unparsed, undefined]],
    );
    expect(strays(spans)).to.deep.equal([]);
  });

  it('names its spans by method and route, also for failures', async () => {
    const service = await start({ BASE_PATH: '/store/v1' });
    const target = '/store/v1/plants';
    const expected: readonly [name: string, parts: Parts][] = [
      ['POST /store/v1/plants', { target, body: plantText(1n) }],
      ['POST /store/v1/plants', { target, body: plantText(1n) }],
      ['POST /store/v1/plants', { target, headers: { authorization: 'Bearer unknown' } }],
      ['GET /livez', { method: 'GET', target: '/livez' }],
      ['POST', { target: '/plants' }],
      ['GET /store/v1/plants', { method: 'GET', target }],
    ];
    for (const [, parts] of expected) {
      const connection = await connect(service);
      connection.send(request(parts));
      await connection.response();
    }
    const { spans } = await tracesOf(service);
    const servers = spans.filter(isServer);
    expect(servers.map(({ name }) => name)).to.deep.equal(expected.map(([name]) => name));
    for (const it of servers) expect(routeOf(it), it.name).to.equal(it.name.split(' ')[1]);
    expect(strays(spans)).to.deep.equal([]);
  });

  it('gives each insert into MongoDB a trace of its own, linked to the requests whose plants it carries', async function () {
    await needsMongod.call(this);
    const { uri } = await sharedReplicaSet();
    const MONGODB_URI = uri.replace('/?', `/traced-${randomUUID()}?`);
    const service = await start({ MONGODB_URI });
    while (!(await fetch(`${service.address}/readyz`)).ok);
    const creates = Array.from({ length: CONNECTIONS }, async (_, at) => {
      const connection = await connect(service);
      return send(
        connection,
        all.slice(at * REQUESTS, (at + 1) * REQUESTS).map((it) => [it]),
      );
    });
    await Promise.all(creates);
    const { spans } = await tracesOf(service);
    const batches = spans.filter(({ name }) => name === 'insert plants');
    expect(batches.filter(({ parentSpanId }) => parentSpanId !== undefined)).to.deep.equal([]);
    // A plant that waits long for its insert is inserted again.
    const linked = new Set(batches.flatMap(({ links }) => links));
    expectSame(
      [...linked].map((trace) => [trace]),
      all.filter(isPlant).map((index) => [traceOf(index)]),
    );
    const inserts = spans.filter(({ scope, name }) => scope === MONGODB && /insert/.test(name));
    const own = new Set(batches.map(({ spanId }) => spanId));
    for (const { spanId } of batches) {
      expect(inserts.some(({ parentSpanId }) => parentSpanId === spanId)).to.equal(true);
    }
    expect(inserts.filter(({ parentSpanId }) => !own.has(parentSpanId ?? ''))).to.deep.equal([]);
  });
});

function routeOf({ attributes }: Span): unknown {
  return attributes['http.route'];
}

function plantOf({ attributes }: Span): number {
  return Number(attributes['plant.id']);
}

/** Compares rows in any order. */
function expectSame(found: readonly unknown[][], expected: readonly unknown[][]): void {
  const sorted = (rows: readonly unknown[][]) => rows.map((row) => row.join(' ')).sort();
  expect(sorted(found)).to.deep.equal(sorted(expected));
}
