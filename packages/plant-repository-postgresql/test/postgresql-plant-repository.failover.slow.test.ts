import { FaultyNetwork } from '@plant-store/faulty-network';
import { ConcurrentCreates } from '@plant-store/plant-repository-contract';
import { postgresqlPlantRepository } from '@plant-store/plant-repository-postgresql';
import { PostgresqlServer } from '@plant-store/postgresql';
import { expect } from 'chai';
import { describeOnPostgresql } from './support/describe-on-postgresql.js';

const CALLERS = 30;
/** How many plants are stored before the failover. */
const MIN_STORED = 300;

describeOnPostgresql('A primary and a synchronous standby', function () {
  this.timeout(90_000);
  let primary: PostgresqlServer;
  let standby: PostgresqlServer;
  let network: FaultyNetwork;

  beforeEach(async () => {
    primary = await PostgresqlServer.start();
    await primary.createTable('plant_store');
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
    await creates.during(CALLERS, async () => {
      await creates.reported(MIN_STORED, 'stored');
      await failover(creates);
    });
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

  it('report true outcomes when the old primary lives, and its connections are cut later', async () => {
    await createDuring(1_500, async (creates) => {
      await standby.promote();
      network.leadTo(standby.port);
      // Creates wait on the old connections, or are stored with new ones.
      await Promise.race([
        creates.reported(CALLERS, 'unknown'),
        creates.reported(MIN_STORED, 'stored'),
      ]);
      await network.cut();
      await network.restore();
    });
  });
});
