import { rejects } from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { openLog } from '../../src/telemetry/logger.js';
import { Metrics } from '../../src/telemetry/metrics.js';
import { type Observer, observe } from '../../src/telemetry/observer.js';

const SECONDS = '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf';

/** The counters whose first increase would be missed if they did not begin at 0. */
const FROM_THE_START = [
  ...['stored', 'taken', 'unavailable', 'unknown'].map((it) => `plants_total{outcome="${it}"}`),
  ...['hit', 'miss'].map((it) => `token_checks_total{cache="${it}"}`),
  ...['success', 'failure'].map((it) => `key_fetches_total{result="${it}"}`),
  'overloaded_requests_total',
  'bugs_total',
  'connections_refused_total',
  'plants_refused_by_database_total',
  'log_lines_lost_total',
];

describe('The metrics', () => {
  let metrics: Metrics;
  let observer: Observer;

  const lines = async () => (await metrics.text()).split('\n');

  beforeEach(async () => {
    metrics = new Metrics({ version: '2.4.0-dev+abc1234' });
    const silent = { LOG_FORMAT: 'json', LOG_LEVEL: 'silent' } as const;
    const logger = await openLog(silent, process.stderr, expect.fail);
    observer = observe(logger, metrics, { store: {}, verifier: {} });
  });

  function exchange(status: number, error?: number, durationMs = 0): void {
    observer({ type: 'request begun' });
    observer({
      type: 'request ended',
      method: 'POST',
      route: '/plants',
      status,
      error,
      durationMs,
      requestId: 'a',
      client: undefined,
      refusal: undefined,
      parserError: undefined,
      request: new IncomingMessage(new Socket()),
    });
  }

  it('begin at 0, name the build, and include Node.js process metrics', async () => {
    const build = `{version="2.4.0-dev+abc1234",commit="unknown",node="${process.version}"}`;
    expect(await lines()).to.include.members([
      ...FROM_THE_START.map((series) => `plant_store_${series} 0`),
      `plant_store_build_info${build} 1`,
    ]);
    expect(await metrics.text()).to.match(/^process_resident_memory_bytes [1-9]/m);
  });

  it('have buckets of seconds for times, and of plants for batches', async () => {
    exchange(200);
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

  it('count requests in progress, durations, bugs and overloads', async () => {
    exchange(503, 5032, 1500);
    for (const error of [5000, 5030, 5030, 4000]) exchange(Math.trunc(error / 10), error);
    const labels =
      '{http_request_method="POST",http_route="/plants",http_response_status_code="503"}';
    expect(await lines()).to.include.members([
      'http_server_active_requests 0',
      `http_server_request_duration_seconds_sum${labels} 1.5`,
      'plant_store_overloaded_requests_total 1',
      'plant_store_bugs_total 1',
    ]);
    expect(await metrics.text()).not.to.match(/^plant_store_tokens_refused_total\{/m);
    observer({ type: 'request begun' });
    expect(await lines()).to.include('http_server_active_requests 1');
  });

  it('count the outcome of each plant', async () => {
    const add = async (error?: Error) => {
      const plants: PlantRepository = {
        add: () => (error ? Promise.reject(error) : Promise.resolve()),
        ready: async () => undefined,
        close: async () => undefined,
      };
      await metrics.counting(plants).add(newPlant({ id: 1n, name: 'Monstera' }), 1);
    };
    await add();
    for (const [Failure, outcome] of [
      [PlantIdTakenError, 'taken'],
      [StoreUnavailableError, 'unavailable'],
      [OutcomeUnknownError, 'unknown'],
      [TypeError, 'stored'],
    ] as const) {
      const error = new Failure('x');
      await rejects(add(error), error);
      expect(await lines()).to.include(`plant_store_plants_total{outcome="${outcome}"} 1`);
    }
  });

  it('count the events of the store, of tokens, and of the keys', async () => {
    observer({ type: 'batch written', plants: 7, durationMs: 250 });
    observer({ type: 'plant refused', id: 1n, code: 121, reason: 'x' });
    for (const cached of [true, false]) observer({ type: 'token checked', cached });
    observer({ type: 'issuer reached' });
    const error = new TokenVerifierUnavailableError('out of reach');
    observer({ type: 'issuer not reached', error });
    expect(await lines()).to.include.members([
      'plant_store_batch_size_sum 7',
      'plant_store_batch_duration_seconds_sum 0.25',
      'plant_store_plants_refused_by_database_total 1',
      'plant_store_token_checks_total{cache="hit"} 1',
      'plant_store_token_checks_total{cache="miss"} 1',
      'plant_store_key_fetches_total{result="success"} 1',
      'plant_store_key_fetches_total{result="failure"} 1',
    ]);
  });
});
