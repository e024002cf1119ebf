import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  endAll,
  run,
  type Service,
  serve,
} from '@plant-store/service-process';
import { expect } from 'chai';

describe('The service on PostgreSQL', () => {
  before(needsPostgresql);
  afterEach(endAll);
  describe('with its table', describeService);
});

/** Its hooks do not run where there is no server. */
function describeService(this: Mocha.Suite): void {
  this.timeout(120_000);
  let server: PostgresqlServer;
  let env: Record<string, string>;

  before(async () => {
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
    env = { POSTGRESQL_URI: server.uri('plant_store'), ACCESS_TOKEN_SHA256 };
  });

  after(() => server.stop());

  it('loses no acknowledged plant, and reports no stored one as unavailable, when the server is killed', async () => {
    const service = await serve({ ...env, REQUEST_DEADLINE_MS: '5000' });
    const outcomes = new Map<number, string>();
    let created = 0;
    let stopped = false;
    const client = async (first: number) => {
      for (let id = first; !stopped; id += 50) {
        const response = await createPlant(service.address, id);
        const { error } = (await response.json()) as { error?: number };
        outcomes.set(id, response.ok ? 'stored' : `error ${error}`);
        created += response.ok ? 1 : 0;
      }
    };
    const clients = Array.from({ length: 50 }, (_, index) => client(index));
    for (const crash of [1, 2, 3]) {
      const enough = created + 100 * crash;
      while (created < enough) await immediately();
      await server.kill();
      await server.restart();
    }
    const enough = created + 50;
    while (created < enough) await immediately();
    stopped = true;
    await Promise.all(clients);
    const rows = await server.rows('SELECT id::int FROM plant_store.plants');
    const stored = new Set(rows.map(({ id }) => id));
    const wrong = [...outcomes].filter(([id, outcome]) => {
      if (outcome === 'error 5031') return false;
      return stored.has(id) !== (outcome === 'stored');
    });
    expect(wrong).to.deep.equal([]);
  });

  it('keeps ids beyond 2^53 exactly', async () => {
    const service = await serve(env);
    for (const id of ['9007199254740992', '9007199254740993', '-9223372036854775808']) {
      expect((await create(service, id)).status).to.equal(200);
      expect(await (await create(service, id)).json()).to.include({ error: 4006 });
    }
  });

  it('reports with `plant-store check` whether its server keeps plants durably', async () => {
    const durable = run(['check'], env);
    expect(await durable.ended).to.equal(0);
    expect(durable.stdout()).to.match(/^storage \(postgresql\): ready$/m);
    await server.kill();
    await server.restart('-c', 'fsync=off');
    const careless = run(['check'], env);
    expect(await careless.ended).to.equal(1);
    expect(careless.stdout()).to.include(
      `storage (postgresql): not ready, POSTGRESQL_URI: the database at ${server.host} accepts no plants: fsync is off, so a crash loses plants. Set it to on`,
    );
    await server.kill();
    await server.restart();
  });

  it('logs once that its database cannot be reached, without the password, and recovers', async () => {
    await server.kill();
    const service = await serve({ ...env, REQUEST_DEADLINE_MS: '500' });
    await service.printed(/POSTGRESQL_URI: the database at .* accepts no plants \(.*ECONNREFUSED/);
    expect(await (await create(service, '1')).json()).to.include({ error: 5030 });
    await server.restart();
    while (!(await fetch(`${service.address}/readyz`)).ok);
    expect(service.stdout()).to.not.include(encodeURIComponent(server.password));
    expect(service.stdout().match(/accepts no plants/g)).to.have.length(1);
    expect(await service.stop()).to.equal(0);
  });
}

const immediately = () => new Promise((resolve) => setImmediate(resolve));

/** Sends an id of any size: a `number` would round it. */
function create({ address }: Service, id: string): Promise<Response> {
  return fetch(`${address}/plants`, {
    method: 'POST',
    headers: { authorization: 'Bearer a-token', 'content-type': 'application/json' },
    body: `{"id":${id},"name":"Monstera"}`,
  });
}
