// node benchmarks/rungs/bench.mjs <rounds> <creates> <members> <rung>...
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { load } from '../dist/src/bench/load.js';
import { root, start } from '../dist/src/peers.js';

const [rounds, creates, members, ...rungs] = process.argv.slice(2);
const set = await ReplicaSet.start({ members: Number(members), cacheGiB: 0.5 });
const databases = set.members.map(({ pid }) => pid);
const mib = (pid) =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);
for (let round = 0; round < Number(rounds); round += 1) {
  const running = [];
  for (const rung of rungs) {
    const env = { RUNG: rung, MONGODB_URI: set.uri, MONGODB_COLLECTION: `b${round}-${rung}` };
    running.push({
      rung,
      it: await start({ name: rung, program: join(root, 'benchmarks/rungs/serve.mjs'), env }),
    });
  }
  for (const { it } of running) await load(it, databases, 50, Math.round(Number(creates) / 4));
  for (const connections of [1, 50, 200])
    for (const { rung, it } of round % 2 ? running.toReversed() : running) {
      const n = connections === 1 ? Number(creates) / 10 : Number(creates);
      const {
        perSecond,
        failed,
        p50,
        p99,
        cpuUs: [own, ...db],
      } = await load(it, databases, connections, Math.round(n));
      console.log(
        JSON.stringify({
          round,
          rung,
          connections,
          load: Number(loadavg()[0].toFixed(1)),
          perSecond: Math.round(perSecond),
          failed,
          p50,
          p99,
          cpuUs: Math.round(own),
          dbUs: Math.round(db.reduce((a, b) => a + b, 0)),
          mib: mib(it.pid),
        }),
      );
    }
  for (const { it } of running) await it.stop();
}
await set.stop();
process.exit(0);
