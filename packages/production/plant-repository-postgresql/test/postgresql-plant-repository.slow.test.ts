import { rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@plant-store/contract-suite';
import { newPlant, type PlantRepository } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import type { PlantReader } from '@plant-store/plant-reader';
import { CALLERS, ConcurrentCreates } from '@plant-store/plant-repository-contract';
import {
  CREATE_TABLE,
  postgresqlPlantRepository,
  type StoreEvent,
} from '@plant-store/plant-repository-postgresql';
import { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';
import { describeOnPostgresql, startServer } from './support/describe-on-postgresql.js';
import { untilNotReady, untilReady } from './support/readiness.js';

/** The number in `docs/postgresql.md`. */
const MAX_BACKENDS = 16;
/** One is added every 50 ms, so that adding them takes longer than the wait before an insert is repeated. */
const PLANTS = 80;
/** How many clients are connected when all connections are lost. */
const CLIENTS = 60;
const SLOW = /StoreDegradedError.*writes are not acknowledged in time/s;

describeOnPostgresql('a store whose server is slow', function () {
  this.timeout(60_000);
  let server: PostgresqlServer;
  let repository: PlantRepository & PlantReader;

  startServer((started) => {
    server = started;
    return server.createTable('plant_store', CREATE_TABLE);
  });

  beforeEach(async () => {
    await server.run('TRUNCATE plant_store.plants');
    repository = postgresqlPlantRepository({ uri: server.uri('plant_store') });
    await repository.add(plant(-1), 10_000);
  });

  afterEach(async () => {
    await server.run('ROLLBACK');
    await repository.close();
  });

  const plant = (id: number) => newPlant({ id: BigInt(id), name: 'Monstera' });

  /** Adds plants, and calls `added` after each of them. */
  const addAll = async (store: PlantRepository, added?: () => Promise<unknown>) => {
    const adding: Promise<void>[] = [];
    for (let id = 0; id < PLANTS; id += 1) {
      adding.push(store.add(plant(id), 50_000));
      await wait(50);
      await added?.();
    }
    return adding;
  };

  const locked = async (work: () => Promise<void>) => {
    await server.run('BEGIN; LOCK TABLE plant_store.plants');
    await work().finally(() => server.run('ROLLBACK'));
  };

  const suspended = (work: () => Promise<void>) => server.frozen(work);

  const pauses = {
    'no synchronous standby acknowledges': (work: () => Promise<void>) =>
      server.withSetting('synchronous_standby_names', 'none', work),
    'the table is locked': locked,
    'its processes are suspended': suspended,
  };

  for (const [what, during] of Object.entries(pauses)) {
    it(`loses no plant and opens few backends while ${what}`, async () => {
      let adding: Promise<void>[] = [];
      const seen: number[] = [];
      await during(async () => {
        adding = await addAll(repository, async () => seen.push(await server.backends()));
        // A check succeeds only in a process that is not suspended.
        if (during !== suspended) await untilNotReady(repository, SLOW);
      });
      await Promise.all(adding);
      expect(Math.max(...seen)).to.be.at.most(MAX_BACKENDS);
      expect(await repository.read({ limit: 1_000 }, 10_000)).to.have.length(PLANTS + 1);
      expect(await server.backends()).to.be.at.most(MAX_BACKENDS);
      await untilReady(repository);
    });
  }

  it('is reported as unreachable, not slow, while only new connections get no response', async () => {
    const other = postgresqlPlantRepository({ uri: server.uri('plant_store') });
    await untilReady(other);
    process.kill(server.pid, 'SIGSTOP');
    try {
      await rejects(other.add(plant(1), 25_000), { code: 'STORE_UNAVAILABLE' });
      await untilNotReady(other, /is not reachable/);
    } finally {
      process.kill(server.pid, 'SIGCONT');
      await other.close();
    }
  });

  it('stores other plants while rows are locked, and the blocked ones after a rollback', async () => {
    const adding = (first: number, count: number, timeLimitMs: number) =>
      Array.from({ length: count }, (_, at) => repository.add(plant(first + at), timeLimitMs));
    await server.run(`BEGIN; INSERT INTO plant_store.plants
      SELECT id, 'held', NULL, md5('')::uuid FROM generate_series(1001, 1012) AS id`);
    const held = adding(1_001, 12, 50_000);
    await Promise.all([...adding(100, 80, 8_000), ...adding(200, 80, 8_000)]);
    await server.run('ROLLBACK');
    await Promise.all(held);
  });

  it('reports an id as taken while another session updates its row', async () => {
    await server.run(`BEGIN; UPDATE plant_store.plants SET tag = 'changed'`);
    const ids = [-1, -2, -3];
    const adding = ids.map((id) => repository.add(plant(id), 8_000));
    await rejects(adding[0] ?? Promise.resolve(), { code: 'PLANT_ID_TAKEN' });
    await Promise.all(adding.slice(1));
  });

  it('works again within seconds after all connections are lost silently', async () => {
    const network = await FaultyNetwork.before(server.port);
    const uri = server.uri('plant_store').replace(/127.0.0.1:\d+/, network.host);
    const adding: Promise<void>[] = [];
    const states: string[] = [];
    const remote = postgresqlPlantRepository({
      uri,
      observer({ type }) {
        if (type !== 'batch written') states.push(type);
        // An instance that reports that it can store plants does so.
        if (type === 'store reachable') adding.push(remote.add(plant(-10 - states.length), 3_000));
      },
    });
    try {
      // Opens every connection.
      await locked(async () => void adding.push(...(await addAll(remote))));
      await Promise.all(adding);
      network.freezeConnections();
      for (let id = 0; id < CLIENTS; id += 1) adding.push(remote.add(plant(1_000 + id), 15_000));
      await Promise.all([...adding, remote.read({ limit: 1_000 }, 15_000)]);
      const isReachable = async () => states.at(-1) === 'store reachable';
      await until(isReachable, () => `the database was ${states}`);
      await Promise.all(adding);
      expect(states).to.include('store unreachable');
    } finally {
      await remote.close();
      await network.close();
    }
  });

  it('is ready again at the next check each time a write check gets no reply', async () => {
    const network = await FaultyNetwork.before(server.port, 'RETURNING mark');
    const uri = server.uri('plant_store').replace(/127.0.0.1:\d+/, network.host);
    const problems = new Set<string>();
    const remote = postgresqlPlantRepository({
      uri,
      observer(event) {
        if (event.type === 'store unreachable') problems.add(event.error.name);
      },
    });
    try {
      await untilReady(remote);
      for (const _ of ['first', 'second', 'third']) {
        network.loseResponses('silence');
        await untilNotReady(remote, SLOW);
        const begin = performance.now();
        await remote.ready();
        expect(performance.now() - begin).to.be.below(1_000);
        const areReplaced = async () => network.connections === 0;
        await until(areReplaced, () => 'the lost connection is still open');
        await untilReady(remote);
      }
      expect([...problems]).to.deep.equal(['StoreDegradedError']);
    } finally {
      await remote.close();
      await network.close();
    }
  });

  it('opens few backends for pages that time out, and reads again after the lock', async () => {
    await locked(async () => {
      const reading = Array.from({ length: 40 }, () =>
        rejects(repository.read({ limit: 1 }, 1_000), { code: 'STORE_UNAVAILABLE' }),
      );
      await Promise.all(reading);
      expect(await server.backends()).to.be.at.most(MAX_BACKENDS);
    });
    expect(await repository.read({ limit: 10 }, 10_000)).to.have.length(1);
    await untilReady(repository);
  });

  it('closes in time while an insert waits for a lock, and leaves no backend', async () => {
    await locked(async () => {
      await rejects(repository.add(plant(1), 300), { code: 'OUTCOME_UNKNOWN' });
      await repository.close();
    });
    const ended = async () => (await server.backends()) === 0;
    await until(ended, () => 'a backend has not ended');
  });

  it('reads plants from a hot standby, with a warning', async () => {
    const standby = await server.startStandby();
    const warnings: string[] = [];
    const observer = (event: StoreEvent) => {
      if (event.type === 'store warning') warnings.push(event.message);
    };
    const exporting = postgresqlPlantRepository({ uri: standby.uri('plant_store'), observer });
    try {
      await repository.add(plant(1), 10_000);
      const hasBoth = async () => (await exporting.read({ limit: 10 }, 10_000)).length === 2;
      await until(hasBoth, () => 'the standby did not get the plant');
      await untilNotReady(exporting, /the server is read-only/);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include('plants are read from a standby, which may lag');
    } finally {
      await exporting.close();
      await standby.stop();
    }
  });
});

describeOnPostgresql('a primary and a synchronous standby', function () {
  this.timeout(90_000);
  let primary: PostgresqlServer;
  let standby: PostgresqlServer;
  let network: FaultyNetwork;

  beforeEach(async () => {
    primary = await PostgresqlServer.start();
    await primary.createTable('plant_store', CREATE_TABLE);
    standby = await primary.startStandby();
    await primary.set('synchronous_standby_names', 'standby');
    network = await FaultyNetwork.before(primary.port);
  });

  afterEach(async () => {
    await network.close();
    await Promise.all([primary.stop(), standby.stop()]);
  });

  async function createDuring(
    timeLimitMs: number,
    failover: (creates: ConcurrentCreates) => Promise<void>,
  ): Promise<ConcurrentCreates> {
    const uri = primary.uri('plant_store').replace(primary.host, network.host);
    const stores = [1, 2].map(() => postgresqlPlantRepository({ uri }));
    const creates = new ConcurrentCreates(stores, timeLimitMs);
    await creates.during(() => failover(creates));
    await Promise.all(stores.map((store) => store.close()));
    const rows = await standby.rows('SELECT id, name FROM plant_store.plants');
    const kept = new Map(rows.map(({ id, name }) => [BigInt(`${id}`), `${name}`]));
    expect(creates.falseOutcomes(kept)).to.deep.equal([]);
    return creates;
  }

  it('store every plant when the primary is killed and the standby promoted', async () => {
    const creates = await createDuring(15_000, async () => {
      await primary.kill();
      await standby.promote();
      network.leadTo(standby.port);
    });
    expect([creates.count('unavailable'), creates.count('unknown')]).to.deep.equal([0, 0]);
  });

  it("report true outcomes when the old primary's connections are cut late", async () => {
    await createDuring(1_500, async (creates) => {
      await standby.promote();
      network.leadTo(standby.port);
      // Creates wait on the old connections, or are stored with new ones.
      await Promise.race([creates.reported(CALLERS, 'unknown'), creates.reported(300, 'stored')]);
      await network.cut();
      await network.restore();
    });
  });
});
