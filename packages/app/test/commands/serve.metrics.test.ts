import { AUDIENCE, OidcIssuer, signingKey } from '@plant-store/oidc-issuer';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';

/** Returns the value of a series in the text of `/metrics`. */
function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((it) => it.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

const plants = (outcome: string) => `plant_store_plants_total{outcome="${outcome}"}`;

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

  it('count each plant that was stored or whose id was taken, with the method, route and status', async () => {
    const { create, metrics } = await start();
    const statuses = [];
    for (const id of [1, 2, 2]) statuses.push((await create(id)).status);
    expect(statuses).to.deep.equal([200, 200, 400]);
    const text = await metrics();
    expect(valueIn(text, plants('stored'))).to.equal(2);
    expect(valueIn(text, plants('taken'))).to.equal(1);
    expect(valueIn(text, 'plant_store_storage_reachable')).to.equal(1);
    const labels =
      'http_request_method="POST",http_route="/plants",http_response_status_code="200"';
    const series = `http_server_request_duration_seconds_count{${labels}}`;
    expect(valueIn(text, series)).to.equal(2);
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
