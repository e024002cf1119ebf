// node benchmarks/rungs/faults.mjs <rounds> <rung>...: all rungs at once on one replica set of three members.

import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlant } from '@plant-store/domain';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { MongoClient } from 'mongodb';
import { openRung } from './index.js';

const [rounds, ...rungs] = process.argv.slice(2);
const print = (...texts) => process.stdout.write(`${texts.join(' ')}\n`);
const LIMIT = 15_000,
  CLIENTS = Number(process.env.CLIENTS ?? 30);
const set = await ReplicaSet.start({ members: 3 });
await set.electWithin(Number(process.env.ELECTION_MS ?? 10_000));
const admin = new MongoClient(set.uri, { serverSelectionTimeoutMS: 40_000 });
const outcomeOf = (e) =>
  e === undefined
    ? 'stored'
    : ({
        PlantIdTakenError: 'taken',
        StoreUnavailableError: 'unavailable',
        OutcomeUnknownError: 'unknown',
      }[e.name] ?? 'failed');
process.on('unhandledRejection', (e) => print('UNHANDLED', e?.name, e?.message));

async function untilPrimary(not) {
  for (;;) {
    for (const m of set.members)
      if (m !== not) {
        try {
          const c = await new MongoClient(
            m.uri ?? `mongodb://127.0.0.1:${m.port}/?directConnection=true`,
            { serverSelectionTimeoutMS: 1000, directConnection: true, socketTimeoutMS: 2000 },
          ).connect();
          const { isWritablePrimary } = await c.db('admin').command({ hello: 1 });
          await c.close();
          if (isWritablePrimary) return;
        } catch {}
      }
    await pause(300);
  }
}
const faults = {
  async kill() {
    const p = await set.primary();
    await p.kill();
    await untilPrimary(p);
    await pause(4000);
    await pause(2500);
    await p.restart();
    await pause(3000);
  },
  async freeze() {
    const p = await set.primary();
    p.freeze();
    await untilPrimary(p);
    await pause(4000);
    p.thaw();
    await pause(4000);
  },
  async stepdown() {
    await set.stepDown();
    await pause(6000);
  },
};
const only = (process.env.FAULTS ?? Object.keys(faults).join()).split(',');
for (let round = 0; round < Number(rounds); round += 1)
  for (const name of only) {
    await set.settled();
    const subjects = rungs.map((rung) => ({
      rung,
      collection: `r${rung}-${name}-${round}`,
      all: [],
      next: 0,
    }));
    for (const s of subjects) {
      s.repository = openRung(s.rung, set.uri, s.collection, () => {});
    }
    let over = false;
    const client = async (s) => {
      await pause(Math.random() * 300);
      while (!over) {
        const n = s.next++;
        const id = BigInt(n - (n % 3));
        const nm = `create ${n}`;
        const t = performance.now();
        let error;
        try {
          await s.repository.add(newPlant({ id, name: nm }), LIMIT);
        } catch (e) {
          error = e;
        }
        s.all.push({ id, name: nm, outcome: outcomeOf(error), ms: performance.now() - t, error });
        await pause(Math.random() * 100);
      }
    };
    const clients = subjects.flatMap((s) => Array.from({ length: CLIENTS }, () => client(s)));
    await pause(4000);
    print(`--- round ${round} ${name}, load ${loadavg()[0].toFixed(1)}`);
    await faults[name]();
    over = true;
    await Promise.all(clients);
    for (const s of subjects) await s.repository.close();
    await set.settled();
    for (const s of subjects) {
      const docs = await admin
        .db('plant-store')
        .collection(s.collection)
        .find({}, { promoteLongs: false, readConcern: { level: 'majority' } })
        .toArray();
      const kept = new Map(docs.map((d) => [BigInt(`${d._id}`), d.name]));
      const isFalse = ({ id, name, outcome }) =>
        !{
          stored: kept.get(id) === name,
          taken: kept.has(id) && kept.get(id) !== name,
          unavailable: kept.get(id) !== name,
          failed: kept.get(id) !== name,
          unknown: true,
        }[outcome];
      const count = (o) => s.all.filter((c) => c.outcome === o).length;
      const row = {
        stored: count('stored'),
        taken: count('taken'),
        unavailable: count('unavailable'),
        failed: count('failed'),
        unknown: count('unknown'),
        unknownButStored: s.all.filter((c) => c.outcome === 'unknown' && kept.get(c.id) === c.name)
          .length,
        false: s.all.filter(isFalse).length,
        maxMs: Math.round(Math.max(...s.all.map((c) => c.ms))),
      };
      const falses = s.all
        .filter(isFalse)
        .slice(0, 2)
        .map((c) => `${c.outcome}/${kept.get(c.id)}/${c.name}/${c.error?.message?.slice(0, 100)}`);
      const errors = [
        ...new Set(
          s.all
            .filter((c) => c.outcome === 'failed')
            .map((c) => `${c.error.name} ${c.error.code ?? ''} ${c.error.message.slice(0, 60)}`),
        ),
      ].slice(0, 4);
      print(
        JSON.stringify({
          round,
          fault: name,
          rung: s.rung,
          ...row,
          ...(falses.length ? { falses } : {}),
          ...(errors.length ? { errors } : {}),
        }),
      );
    }
  }
await admin.close();
await set.stop();
process.exit(0);
