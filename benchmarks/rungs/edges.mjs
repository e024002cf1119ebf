// node benchmarks/rungs/edges.mjs <case> <rung>...
import { setTimeout as pause } from 'node:timers/promises';
import { newPlant } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { MongodServer, ReplicaSet } from '@plant-store/test-servers/mongod';
import { MongoClient } from 'mongodb';
import { openRung } from './index.js';

const [name, ...rungs] = process.argv.slice(2);
const write = (...texts) => process.stdout.write(`${texts.join(' ')}\n`);
process.on('unhandledRejection', (e) => write('UNHANDLED', e?.name, e?.message));
const outcomeOf = (e) =>
  e === undefined
    ? 'stored'
    : ({
        PlantIdTakenError: 'taken',
        StoreUnavailableError: 'unavailable',
        OutcomeUnknownError: 'unknown',
      }[e.name] ?? `failed ${e.name} ${e.code ?? ''}`);
let next = 0n;
async function add(plants, limit = 15_000, id = next++) {
  const t = performance.now();
  let error;
  try {
    await plants.add(newPlant({ id, name: `plant ${id}` }), limit);
  } catch (e) {
    error = e;
  }
  return { id, outcome: outcomeOf(error), ms: performance.now() - t, error };
}
function tally(all) {
  const out = {};
  for (const { outcome } of all) out[outcome] = (out[outcome] ?? 0) + 1;
  return { ...out, maxMs: Math.round(Math.max(...all.map(({ ms }) => ms))) };
}
const print = (rung, what) => write(JSON.stringify({ case: name, rung, ...what }));
async function falses(uri, collection, all) {
  const client = new MongoClient(uri);
  const docs = await client
    .db('plant-store')
    .collection(collection)
    .find({}, { promoteLongs: false, readConcern: { level: 'majority' } })
    .toArray();
  await client.close();
  const kept = new Set(docs.map((d) => BigInt(`${d._id}`)));
  return all.filter(
    ({ id, outcome }) =>
      (outcome === 'stored' && !kept.has(id)) ||
      ((outcome === 'unavailable' || outcome.startsWith('failed')) && kept.has(id)) ||
      outcome === 'taken',
  ).length;
}
const cases = {
  // A simulated router: the shard of odd ids has no primary. An insert with such a plant is answered after 10 s.
  async lostshard() {
    const { Db, MongoClient: Client } = await import('mongodb');
    // The driver would tell the store that it has found a router.
    const emit = Client.prototype.emit;
    Client.prototype.emit = function (name, event) {
      if (name !== 'topologyDescriptionChanged') return emit.call(this, name, event);
      const { newDescription } = event;
      const servers = new Map([...newDescription.servers].map(([at, it]) => [at, routerOf(it)]));
      return emit.call(this, name, { newDescription: { ...newDescription, servers } });
    };
    const routerOf = (it) => Object.create(it, { type: { value: 'Mongos' } });
    const original = Db.prototype.command;
    let isLost = false;
    Db.prototype.command = async function (command, options = {}) {
      if (!isLost || !command.insert) return original.call(this, command, options);
      const { documents, txnNumber, ...rest } = command;
      const all = documents.toBSON?.() ?? documents.map((it) => it.toBSON?.() ?? it);
      const healthy = all.filter(({ _id }) => _id % 2n === 0n);
      if (healthy.length > 0)
        await original.call(this, { ...rest, documents: healthy }, { signal: options.signal });
      if (healthy.length < all.length) await pause(10_000, undefined, { signal: options.signal });
      const writeErrors = [...all.entries()]
        .filter(([, { _id }]) => _id % 2n !== 0n)
        .map(([index]) => ({ index, code: 133, errmsg: 'no primary' }));
      return { ok: 1, n: healthy.length, ...(writeErrors.length > 0 && { writeErrors }) };
    };
    const set = await ReplicaSet.start({ members: 1 });
    for (const rung of rungs) {
      const plants = openRung(rung, set.uri, `h-${rung}`, () => {});
      isLost = false;
      await add(plants, 5_000, -2n);
      next = 0n;
      isLost = true;
      const all = [];
      let over = false;
      const clients = Array.from({ length: 40 }, async (_, i) => {
        let n = 0;
        while (!over) {
          const id = BigInt(i * 10_000 + 2 * n++ + (i % 4 === 0 ? 1 : 0));
          all.push(await add(plants, 15_000, id));
          await pause(20 + Math.random() * 50);
        }
      });
      await pause(20_000);
      over = true;
      await Promise.all(clients);
      const healthy = all.filter(({ id }) => id % 2n === 0n);
      print(rung, {
        healthyShard: tally(healthy),
        p50: Math.round(healthy.map(({ ms }) => ms).sort((a, b) => a - b)[healthy.length >> 1]),
        lostShard: tally(all.filter(({ id }) => id % 2n !== 0n)),
      });
      await plants.close();
    }
    await set.stop();
  },
  // The collection was created by rung 4, or has a unique index on the name.
  async mixed() {
    const set = await ReplicaSet.start({ members: 1 });
    const admin = new MongoClient(set.uri);
    for (const rung of rungs) {
      const four = openRung('4', set.uri, `m-${rung}`, () => {});
      await add(four);
      const plants = openRung(rung, set.uri, `m-${rung}`, () => {});
      const one = await add(plants, 3_000);
      await admin
        .db('plant-store')
        .collection(`u-${rung}`)
        .createIndex({ name: 1 }, { unique: true });
      const unique = openRung(rung, set.uri, `u-${rung}`, () => {});
      await unique.add(newPlant({ id: 1n, name: 'same' }), 3_000);
      let error;
      try {
        await unique.add(newPlant({ id: 2n, name: 'same' }), 3_000);
      } catch (e) {
        error = e;
      }
      print(rung, { onCollectionOf4: one.outcome, uniqueNameIndex: outcomeOf(error) });
      await Promise.all([four.close(), plants.close(), unique.close()]);
    }
    await admin.close();
    await set.stop();
  },
  async standalone() {
    const server = await MongodServer.start();
    for (const rung of rungs) {
      const plants = openRung(
        rung,
        server.uri ?? `mongodb://127.0.0.1:${server.port}`,
        `s-${rung}`,
        () => {},
      );
      await pause(300);
      const one = await add(plants, 3_000);
      print(rung, { ...tally([one]), why: one.error?.message });
      await plants.close();
    }
    await server.stop();
  },
  // A majority that acknowledges 8 s late: 100 clients, two creates each.
  async lag() {
    const set = await ReplicaSet.start({ members: 2 });
    const admin = new MongoClient(set.uri);
    const stores = [];
    for (const rung of rungs) {
      const p = openRung(rung, set.uri, `l-${rung}`, () => {});
      await add(p);
      stores.push([rung, p]);
    }
    await set.delaySecondary(8);
    for (const [rung, p] of stores) {
      const status = async () =>
        (await admin.db('admin').command({ serverStatus: 1 })).connections.totalCreated;
      const before = await status();
      const all = [];
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          for (let i = 0; i < 2; i += 1) all.push(await add(p));
        }),
      );
      const created = (await status()) - before;
      print(rung, { ...tally(all), connectionsOpened: created });
    }
    await set.delaySecondary(0);
    for (const [, p] of stores) await p.close();
    await admin.close();
    await set.stop();
  },
  // Open connections carry nothing any more, without a sign, once, under 30 clients. New ones work.
  async silent() {
    const set = await ReplicaSet.start({ members: 1 });
    for (const rung of rungs) {
      const network = await FaultyNetwork.before(set.members[0].port, 'insert');
      const uri = `mongodb://${network.host}/?directConnection=true`;
      const plants = openRung(rung, uri, `n-${rung}`, () => {});
      const all = [];
      let over = false;
      const clients = Array.from({ length: 30 }, async () => {
        while (!over) {
          all.push(await add(plants));
          await pause(Math.random() * 50);
        }
      });
      await pause(2000);
      network.freezeConnections();
      await pause(17_000);
      over = true;
      await Promise.all(clients);
      await network.restore();
      await plants.close();
      print(rung, { ...tally(all), false: await falses(set.uri, `n-${rung}`, all) });
      await network.close();
    }
    await set.stop();
  },
  // The replies of single inserts are swallowed on connections that stay open; everything else works.
  async swallowed() {
    const set = await ReplicaSet.start({ members: 1 });
    for (const rung of rungs) {
      const network = await FaultyNetwork.before(set.members[0].port, 'ordered');
      const uri = `mongodb://${network.host}/?directConnection=true`;
      const plants = openRung(rung, uri, `w-${rung}`, () => {});
      const all = [];
      for (let i = 0; i < 2; i += 1) {
        await add(plants);
        network.loseResponses('silence');
        all.push(await add(plants));
      }
      await network.restore();
      await plants.close();
      print(rung, {
        ...tally(all),
        ms: all.map(({ ms }) => Math.round(ms)),
        false: await falses(set.uri, `w-${rung}`, all),
      });
      await network.close();
    }
    await set.stop();
  },
  // Several acknowledgements of one create are lost in turn.
  async lostacks() {
    const set = await ReplicaSet.start({ members: 1 });
    for (const rung of rungs) {
      const network = await FaultyNetwork.before(set.members[0].port, 'ordered');
      const uri = `mongodb://${network.host}/?directConnection=true`;
      const plants = openRung(rung, uri, `a-${rung}`, () => {});
      const all = [];
      for (let i = 0; i < 5; i += 1) {
        await add(plants);
        network.loseResponses('cut', 'cut', 'cut');
        all.push(await add(plants));
        network.loseResponses();
      }
      await network.restore();
      await plants.close();
      print(rung, { ...tally(all), false: await falses(set.uri, `a-${rung}`, all) });
      await network.close();
    }
    await set.stop();
  },
  // An administrator's validator refuses one plant of 50 that are added together.
  async validator() {
    const set = await ReplicaSet.start({ members: 1 });
    const admin = new MongoClient(set.uri);
    for (const rung of rungs) {
      await admin
        .db('plant-store')
        .createCollection(`v-${rung}`, { validator: { name: { $ne: 'plant 7' } } });
      const plants = openRung(rung, set.uri, `v-${rung}`, () => {});
      await add(plants, 5_000, 1000n);
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, i) => add(plants, 5_000, BigInt(i))),
      );
      print(rung, {
        ...tally(all),
        bad: `${all[7].outcome}: ${all[7].error?.message}`.slice(0, 160),
        false: await falses(set.uri, `v-${rung}`, all),
      });
      await plants.close();
    }
    await admin.close();
    await set.stop();
  },
  // A secondary that never acknowledges: 500 clients wait, then it continues.
  async frozenmajority() {
    const set = await ReplicaSet.start({ members: 2 });
    for (const rung of rungs) {
      const plants = openRung(rung, set.uri, `f-${rung}`, () => {});
      await add(plants);
      set.members[1].freeze();
      const adding = Promise.all(Array.from({ length: 500 }, () => add(plants)));
      await pause(6_000);
      set.members[1].thaw();
      const all = await adding;
      print(rung, { ...tally(all), false: await falses(set.uri, `f-${rung}`, all) });
      await plants.close();
      await set.settled();
    }
    await set.stop();
  },
  // A wrong password: how many log-ins in 5 s, and how soon an add is refused.
  async login() {
    const { SecureMongod } = await import('@plant-store/test-servers/mongod');
    const server = await SecureMongod.start({ tlsOptional: true });
    for (const rung of rungs) {
      const plants = openRung(
        rung,
        `mongodb://plant-store:wrong@${server.host}/?authSource=admin&directConnection=true`,
        `p-${rung}`,
        () => {},
      );
      await pause(500);
      const one = await add(plants, 5_000);
      print(rung, { ...tally([one]), why: one.error?.message?.slice(0, 200) });
      await plants.close();
    }
    await server.stop();
  },
};
await cases[name]();
process.exit(0);
