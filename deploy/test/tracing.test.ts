import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { newDatabase } from '@plant-store/test-servers/mongod';
import { slowPackage } from '@plant-store/test-servers/programs';
import {
  ACCESS_TOKEN_SHA256,
  ownProcesses,
  postPlant,
  type Service,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { snippet, withReal } from '../../test/documents/support/snippet.js';
import { root, temporaryFolder } from '../../test/support/root.js';

const { endAll, serve } = ownProcesses();

const PRELOAD = pathToFileURL(join(root, 'deploy/test/support/tracing-preload.js')).href;
/** The flags of the command in docs/observing.md that starts the service, with the exporter of this test. */
const FLAGS = withReal(snippet('docs/observing.md', 'node --import').slice('node '.length), {
  '@opentelemetry/auto-instrumentations-node/register': PRELOAD,
  ' packages/production/service/bin/plant-store.js\n': '',
});

const MONGODB = '@opentelemetry/instrumentation-mongodb';
/** `SpanKind.SERVER` of OpenTelemetry's API. */
const SERVER = 1;

/** A span that `tracing-preload.js` has written, in the order of their ends. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The traces of its links. */
  readonly links: readonly string[];
  /** The instrumentation that created it. */
  readonly scope: string;
}

const isServer = ({ kind }: Span) => kind === SERVER;
const routeOf = ({ attributes }: Span) => attributes['http.route'];

/** The requests that are sent at the same time. Each fifth has an invalid body. */
const all = Array.from({ length: 100 }, (_, index) => index);
const isPlant = (index: number) => index % 5 !== 0;
const traceOf = (index: number) => (index + 1).toString(16).padStart(32, '0');
const parentOf = (index: number) => traceOf(index).slice(16);

/** Sends all requests, each with a trace and an id of its own. */
async function sendAll({ address }: Service): Promise<void> {
  const statuses = all.map(async (index) => {
    const traceparent = `00-${traceOf(index)}-${parentOf(index)}-01`;
    const headers = { traceparent, 'X-Request-Id': `traced-${index}` };
    const body = isPlant(index) ? `{"id":${index},"name":"Ficus"}` : '{}';
    return (await postPlant(address, body, headers)).status;
  });
  const expected = all.map((index) => (isPlant(index) ? 200 : 400));
  expect(await Promise.all(statuses)).to.deep.equal(expected);
}

describe('A service with instrumentation preloaded', function () {
  this.timeout(120_000);
  before(function () {
    slowPackage(this, '@opentelemetry/sdk-trace-node');
  });
  afterEach(endAll);

  const spansFile = join(temporaryFolder(), 'spans.json');

  function start(settings: Record<string, string> = {}): Promise<Service> {
    const traced = { NODE_OPTIONS: FLAGS, SPANS_FILE: spansFile, LOG_LEVEL: 'debug' };
    return serve({ ...traced, ACCESS_TOKEN_SHA256, ...settings });
  }

  /** Stops the service. Resolves with its spans. */
  async function spansOf(service: Service): Promise<Span[]> {
    expect(await service.stop(), service.stderr()).to.equal(0);
    return JSON.parse(readFileSync(spansFile, 'utf8'));
  }

  it('keeps concurrent requests and their log lines in separate traces', async () => {
    const service = await start();
    await sendAll(service);
    const spans = await spansOf(service);
    const servers = spans.filter(isServer);
    expect(
      servers.map((it) => [it.traceId, it.parentSpanId, it.name, routeOf(it)]),
    ).to.have.deep.members(all.map((at) => [traceOf(at), parentOf(at), 'POST /plants', '/plants']));
    const log = service.stdout().match(/^.*"requestId".*$/gm) ?? [];
    expect(
      log.map((line) => JSON.parse(line)).map((it) => [it.requestId, it.trace_id]),
    ).to.have.deep.members(all.map((at) => [`traced-${at}`, traceOf(at)]));
  });

  it('gives each insert its own trace, with links to its requests', async function () {
    const service = await start({ MONGODB_URI: await newDatabase(this) });
    while (!(await fetch(`${service.address}/readyz`)).ok);
    await sendAll(service);
    const spans = await spansOf(service);
    const batches = spans.filter(({ name }) => name === 'insert plants');
    expect(batches.filter(({ parentSpanId }) => parentSpanId !== undefined)).to.deep.equal([]);
    // A plant that waits long for its insert is inserted again.
    const linked = new Set(batches.flatMap(({ links }) => links));
    expect([...linked]).to.have.members(all.filter(isPlant).map(traceOf));
    const inserts = spans.filter(({ scope, name }) => scope === MONGODB && /insert/.test(name));
    const parents = new Set(inserts.map(({ parentSpanId }) => parentSpanId));
    expect(parents).to.deep.equal(new Set(batches.map(({ spanId }) => spanId)));
  });
});
