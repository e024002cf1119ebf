import { once } from 'node:events';
import { needsMongod, ReplicaSet } from '@plant-store/mongod';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, run, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { countsOf, numbered, PlantFiles, startImport } from '../plant-files.js';

describe('A set, and later only one secondary of it,', function () {
  this.timeout(60_000);
  const files = new PlantFiles();
  let set: ReplicaSet;

  before(needsMongod);
  before(async () => {
    set = await ReplicaSet.start({ members: 3 });
  });
  after(() => set.stop());
  after(() => files.remove());
  afterEach(endAll);

  it('is not ready through a direct connection to a secondary, with the reason', async () => {
    const primary = await set.primary();
    const secondary = set.members.find((member) => member !== primary);
    const check = run(['check'], { MONGODB_URI: secondary?.uri ?? '', ACCESS_TOKEN_SHA256 });
    expect(await check.ended).to.equal(1);
    expect(check.stdout()).to.include('accepts no plants (the server is a secondary');
  });

  it('lets every command end: serve with 0, check and import with 1', async () => {
    const env = { MONGODB_URI: set.uri, ACCESS_TOKEN_SHA256, REQUEST_DEADLINE_MS: '3000' };
    const service = await serve(env);
    expect((await createPlant(service.address, 1, 'Monstera')).status).to.equal(200);
    const primary = await set.primary();
    const [, ...others] = set.members.filter((member) => member !== primary);
    for (const member of [primary, ...others]) await member.kill();
    await service.printed(/the replica set has no primary/);

    const check = run(['check'], env);
    expect(await check.ended).to.equal(1);
    expect(check.stdout()).to.match(/not ready, MONGODB_URI: .*the replica set has no primary/);

    const plants = startImport([await files.write(numbered(1))], env);
    while (!plants.stderr().includes('the replica set has no primary')) {
      if (plants.child.stderr) await once(plants.child.stderr, 'data');
    }
    plants.child.kill('SIGTERM');
    expect(await plants.ended).to.equal(1);
    expect(countsOf(plants)).to.deep.equal({ unavailable: 1 });

    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
  });
});
