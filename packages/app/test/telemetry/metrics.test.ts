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
import { expect } from 'chai';
import { Metrics } from '../../src/telemetry/metrics.js';
import { type Observer, observe } from '../../src/telemetry/observer.js';
import { pino } from '../support/pino.js';

const SECONDS = '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf';

const OUTCOMES = ['stored', 'taken', 'unavailable', 'unknown'];
const plants = (outcome: string) => `plant_store_plants_total{outcome="${outcome}"}`;
const checks = (cache: string) => `plant_store_token_checks_total{cache="${cache}"}`;
const fetches = (result: string) => `plant_store_key_fetches_total{result="${result}"}`;

describe('The metrics', () => {
  let metrics: Metrics;
  let observer: Observer;

  /** Resolves with the value of a series in the text of `/metrics`. */
  async function value(series: string, source = metrics): Promise<number> {
    const line = (await source.text()).split('\n').find((it) => it.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  beforeEach(() => {
    metrics = new Metrics({ version: '2.4.0-dev+abc1234', commit: 'abc1234d' });
    const variables = { storage: {}, verifier: {} };
    observer = observe(pino({ level: 'silent' }), metrics, variables);
  });

  function requestEnded(status: number, error?: number, durationMs = 1): void {
    observer.http.ended({
      ...{ method: 'POST', route: '/plants', status, error, durationMs },
      ...{ requestId: 'a', client: undefined, refusal: undefined, request: undefined },
    });
  }

  it('begin at 0 for counters whose first increase would otherwise be missed', async () => {
    const series = [
      ...OUTCOMES.map(plants),
      ...['hit', 'miss'].map(checks),
      ...['success', 'failure'].map(fetches),
      'plant_store_requests_refused_total',
      'plant_store_bugs_total',
      'plant_store_connections_refused_total',
      'plant_store_plants_refused_by_database_total',
      'plant_store_log_lines_lost_total',
    ];
    for (const name of series) expect(await value(name), name).to.equal(0);
  });

  it('have buckets of seconds, and of plants', async () => {
    requestEnded(200);
    const text = await metrics.text();
    for (const [name, expected] of [
      ['http_server_request_duration_seconds', SECONDS],
      ['plant_store_batch_duration_seconds', SECONDS],
      ['plant_store_batch_size', '1 2 5 10 20 50 100 200 500 1000 +Inf'],
    ]) {
      const buckets = text.matchAll(new RegExp(`^${name}_bucket{le="([^"]+)"`, 'gm'));
      expect([...buckets].map(([, limit]) => limit).join(' '), name).to.equal(expected);
    }
  });

  it('name the build, and include those of Node.js about the process', async () => {
    const series = (commit: string) =>
      `plant_store_build_info{version="2.4.0-dev+abc1234",commit="${commit}",node="${process.version}"}`;
    expect(await value(series('abc1234d'))).to.equal(1);
    const another = new Metrics({ version: '2.4.0-dev+abc1234' });
    expect(await value(series('unknown'), another)).to.equal(1);
    expect(await value('process_resident_memory_bytes')).to.be.above(0);
  });

  it('count a request while it is under way, and its duration when it has ended', async () => {
    observer.http.begun();
    expect(await value('http_server_active_requests')).to.equal(1);
    requestEnded(503, 5032, 1500);
    expect(await value('http_server_active_requests')).to.equal(0);
    const labels =
      '{http_request_method="POST",http_route="/plants",http_response_status_code="503"}';
    expect(await value(`http_server_request_duration_seconds_sum${labels}`)).to.equal(1.5);
    expect(await value('plant_store_requests_refused_total')).to.equal(1);
    expect(await metrics.text()).not.to.match(/^plant_store_tokens_refused_total\{/m);
  });

  it('count a bug, and no other failure as a bug', async () => {
    for (const error of [5000, 5030, 4000]) requestEnded(Math.trunc(error / 10), error);
    expect(await value('plant_store_bugs_total')).to.equal(1);
    expect(await value('plant_store_requests_refused_total')).to.equal(0);
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
    const counted = metrics.counting(repository);
    await counted.add(newPlant({ id: 1n, name: 'Monstera' }), 1);
    for (const [id, error] of outcomes) {
      await rejects(counted.add(newPlant({ id, name: 'Monstera' }), 1), error);
    }
    for (const outcome of OUTCOMES) expect(await value(plants(outcome)), outcome).to.equal(1);
  });

  it('count the events of the storage, of tokens, and of the keys', async () => {
    observer.storage({ type: 'batch written', plants: 7, durationMs: 250 });
    observer.storage({ type: 'plant refused', id: 1n, code: 121, reason: 'x' });
    for (const cached of [true, false]) observer.tokens({ type: 'token checked', cached });
    observer.tokens({ type: 'issuer reached' });
    const error = new TokenVerifierUnavailableError('out of reach');
    observer.tokens({ type: 'issuer not reached', error });
    for (const [series, expected] of [
      ['plant_store_batch_size_sum', 7],
      ['plant_store_batch_duration_seconds_sum', 0.25],
      ['plant_store_plants_refused_by_database_total', 1],
      ...['hit', 'miss'].map((cache) => [checks(cache), 1] as const),
      ...['success', 'failure'].map((result) => [fetches(result), 1] as const),
    ] as const) {
      expect(await value(series), series).to.equal(expected);
    }
  });
});
