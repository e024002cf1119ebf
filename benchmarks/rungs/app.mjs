import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { service, start } from '../dist/src/peers.js';

const set = await ReplicaSet.start({ members: 1 });
for (const inserts of ['single', 'shared']) {
  const s = service(inserts);
  const running = await start({
    ...s,
    env: { MONGODB_URI: set.uri, MONGODB_COLLECTION: inserts, MONGODB_INSERTS: inserts },
  });
  const post = (id) =>
    fetch(`${running.url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.token}`, 'content-type': 'application/json' },
      body: `{"id":${id},"name":"Monstera"}`,
    }).then(async (r) => [r.status, await r.text()]);
  console.log(
    inserts,
    await post('9007199254740993'),
    await post('9007199254740993'),
    (await fetch(`${running.url}/readyz`)).status,
  );
  await running.stop();
}
await set.stop();
process.exit(0);
