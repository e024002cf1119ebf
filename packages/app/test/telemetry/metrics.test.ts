import { rejects } from 'node:assert/strict';
import {
  type NewPlant,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { AUDIENCE, OidcIssuer, signingKey } from '@plant-store/oidc-issuer';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { countPlants } from '../../src/telemetry/count-plants.js';
import { Metrics } from '../../src/telemetry/metrics.js';

/** Returns the value of a series in the text of `/metrics`. */
function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((it) => it.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

const plants = (outcome: string) => `plant_store_plants_total{outcome="${outcome}"}`;

describe('The metrics', () => {
  let metrics: Metrics;
  const value = async (series: string) => valueIn(await metrics.text(), series);

  beforeEach(() => {
    metrics = new Metrics();
  });

  it('begin at 0 for counters whose first increase would otherwise be missed', async () => {
    const series = [
      ...['stored', 'taken', 'unavailable', 'unknown'].map(plants),
      ...['hit', 'miss'].map((cache) => `plant_store_token_checks_total{cache="${cache}"}`),
      ...['success', 'failure'].map((it) => `plant_store_key_fetches_total{result="${it}"}`),
      'plant_store_requests_refused_total',
      'plant_store_bugs_total',
      'plant_store_connections_refused_total',
      'plant_store_plants_refused_by_database_total',
    ];
    for (const name of series) expect(await value(name), name).to.equal(0);
  });

  const limits = {
    http_server_request_duration_seconds:
      '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf',
    plant_store_batch_duration_seconds:
      '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf',
    plant_store_batch_size: '1 2 5 10 20 50 100 200 500 1000 +Inf',
  };

  for (const [name, expected] of Object.entries(limits)) {
    it(`have the buckets of ${name}`, async () => {
      const labels = { method: 'GET', route: undefined, status: 200, error: undefined };
      const exchange = { ...labels, duration: 1, requestId: 'a', client: undefined };
      metrics.requestEnded({ ...exchange, refusal: undefined });
      const buckets = (await metrics.text()).matchAll(
        new RegExp(`^${name}_bucket{le="([^"]+)"`, 'gm'),
      );
      expect([...buckets].map(([, limit]) => limit).join(' ')).to.equal(expected);
    });
  }

  it('include those of Node.js about the process', async () => {
    expect(await value('process_resident_memory_bytes')).to.be.above(0);
  });

  it('count a request while it is under way, and its duration when it has ended', async () => {
    metrics.requestBegun();
    expect(await value('http_server_active_requests')).to.equal(1);
    metrics.requestEnded({
      ...{ method: 'POST', route: '/plants', status: 503, error: 5032, duration: 1500 },
      ...{ requestId: 'a', client: undefined, refusal: undefined },
    });
    expect(await value('http_server_active_requests')).to.equal(0);
    const labels =
      '{http_request_method="POST",http_route="/plants",http_response_status_code="503"}';
    expect(await value(`http_server_request_duration_seconds_sum${labels}`)).to.equal(1.5);
    expect(await value('plant_store_requests_refused_total')).to.equal(1);
    expect(await metrics.text()).not.to.match(/^plant_store_tokens_refused_total\{/m);
  });

  it('count refused tokens by reason', async () => {
    metrics.requestEnded({
      ...{ method: 'POST', route: '/plants', status: 401, error: 4011, duration: 1 },
      ...{ requestId: 'a', client: undefined, refusal: 'expired' },
    });
    expect(await value('plant_store_tokens_refused_total{reason="expired"}')).to.equal(1);
  });

  it('count a bug, and no other failure as a bug', async () => {
    for (const error of [5000, 5030, 4000]) {
      metrics.requestEnded({
        ...{ method: 'POST', route: '/plants', status: Math.trunc(error / 10), error, duration: 1 },
        ...{ requestId: 'a', client: undefined, refusal: undefined },
      });
    }
    expect(await value('plant_store_bugs_total')).to.equal(1);
  });

  it('count the outcome of each plant at the storage', async () => {
    const outcomes = new Map<bigint, Error>([
      [2n, new PlantIdTakenError('x')],
      [3n, new StorageUnavailableError('x')],
      [4n, new OutcomeUnknownError('x')],
      [5n, new TypeError('a bug')],
    ]);
    const add = async ({ id }: NewPlant) => {
      const error = outcomes.get(id);
      if (error) throw error;
    };
    const repository: PlantRepository = { add, async ready() {}, async close() {} };
    const counted = countPlants(repository, metrics);
    await counted.add(newPlant({ id: 1n, name: 'Monstera' }), 1);
    for (const [id, error] of outcomes) {
      await rejects(counted.add(newPlant({ id, name: 'Monstera' }), 1), error);
    }
    for (const outcome of ['stored', 'taken', 'unavailable', 'unknown']) {
      expect(await value(plants(outcome)), outcome).to.equal(1);
    }
  });

  it('do not change the other methods of a repository', async () => {
    class Catalogue extends MemoryPlantRepository {
      readonly #name = 'catalogue';
      name(): string {
        return this.#name;
      }
    }
    const counted = countPlants(new Catalogue(), metrics);
    expect(counted.name()).to.equal('catalogue');
    await counted.close();
    await rejects(counted.ready(), StorageUnavailableError);
  });

  it('count the events of the storage', async () => {
    metrics.storageEvent({ type: 'storage reachable' });
    expect(await value('plant_store_storage_reachable')).to.equal(1);
    const error = new StorageUnavailableError('out of reach');
    metrics.storageEvent({ type: 'storage unreachable', error });
    expect(await value('plant_store_storage_reachable')).to.equal(0);
    const batch = { plants: 7, durationMs: 250, failure: undefined };
    metrics.storageEvent({ type: 'batch written', ...batch });
    expect(await value('plant_store_batch_size_sum')).to.equal(7);
    expect(await value('plant_store_batch_duration_seconds_sum')).to.equal(0.25);
    metrics.storageEvent({ type: 'plant refused', id: 1n, code: 121, reason: 'x' });
    expect(await value('plant_store_plants_refused_by_database_total')).to.equal(1);
  });

  it('count tokens, fetches of keys, and refused connections', async () => {
    metrics.tokenEvent({ type: 'token checked', cached: true });
    metrics.tokenEvent({ type: 'token checked', cached: false });
    metrics.tokenEvent({ type: 'issuer reached' });
    const error = new TokenVerifierUnavailableError('out of reach');
    metrics.tokenEvent({ type: 'issuer not reached', error });
    metrics.connectionRefused();
    for (const series of [
      'plant_store_token_checks_total{cache="hit"}',
      'plant_store_token_checks_total{cache="miss"}',
      'plant_store_key_fetches_total{result="success"}',
      'plant_store_key_fetches_total{result="failure"}',
      'plant_store_connections_refused_total',
    ]) {
      expect(await value(series), series).to.equal(1);
    }
  });
});

describe('The metrics of a running service', function () {
  this.timeout(20_000);
  afterEach(endAll);

  async function start(env: Record<string, string> = {}) {
    const service = await serve({ MANAGEMENT_PORT: '0', ACCESS_TOKEN_SHA256, ...env });
    const { address, management } = service;
    const create = (id: number) => createPlant(address, id);
    const probe = async () => {
      for (const listener of [address, management]) {
        expect((await fetch(`${listener}/readyz`)).status).to.equal(503);
      }
    };
    const metrics = async () => (await fetch(`${management}/metrics`)).text();
    return { ...service, create, probe, metrics };
  }

  it('count each plant that was stored, and each whose id was taken', async () => {
    const { create, metrics } = await start();
    const statuses = [];
    for (const id of [1, 2, 2]) statuses.push((await create(id)).status);
    expect(statuses).to.deep.equal([200, 200, 400]);
    const text = await metrics();
    expect(valueIn(text, plants('stored'))).to.equal(2);
    expect(valueIn(text, plants('taken'))).to.equal(1);
    expect(valueIn(text, 'plant_store_storage_reachable')).to.equal(1);
  });

  it('count a create with its method, its route and its status', async () => {
    const { create, metrics } = await start();
    await create(1);
    const labels =
      'http_request_method="POST",http_route="/plants",http_response_status_code="200"';
    const series = `http_server_request_duration_seconds_count{${labels}}`;
    expect(valueIn(await metrics(), series)).to.equal(1);
  });

  it('count the events of the token verifier', async () => {
    const issuer = await OidcIssuer.start(await signingKey('first'));
    try {
      const env = { JWT_ISSUER: issuer.url, JWT_AUDIENCE: AUDIENCE, MANAGEMENT_PORT: '0' };
      const { address, management } = await serve(env);
      const token = await issuer.token();
      for (const id of [1, 2]) {
        expect((await createPlant(address, id, 'Monstera', token)).status).to.equal(200);
      }
      const text = await (await fetch(`${management}/metrics`)).text();
      expect(valueIn(text, 'plant_store_key_fetches_total{result="success"}')).to.equal(1);
      expect(valueIn(text, 'plant_store_key_fetches_total{result="failure"}')).to.equal(0);
      expect(valueIn(text, 'plant_store_token_checks_total{cache="miss"}')).to.equal(1);
      expect(valueIn(text, 'plant_store_token_checks_total{cache="hit"}')).to.equal(1);
    } finally {
      await issuer.stop();
    }
  });

  it('count creates without a storage, which are logged, but not failed readiness probes', async () => {
    const { create, probe, metrics, stdout } = await start({
      ...{ MONGODB_URI: 'mongodb://127.0.0.1:1', REQUEST_DEADLINE_MS: '300' },
    });
    for (let turn = 0; turn < 3; turn += 1) await probe();
    expect((await create(1)).status).to.equal(503);
    const text = await metrics();
    expect(valueIn(text, plants('unavailable'))).to.equal(1);
    expect(valueIn(text, 'plant_store_storage_reachable')).to.equal(0);
    expect(stdout().match(/"a request failed"/g)).to.have.length(1);
  });

  it('count no probe as refused while the service stops', async () => {
    const { child, printed, probe, metrics } = await start({ SHUTDOWN_DELAY_MS: '60000' });
    child.kill('SIGTERM');
    await printed(/stopping/);
    await probe();
    expect(valueIn(await metrics(), 'plant_store_requests_refused_total')).to.equal(0);
  });
});
