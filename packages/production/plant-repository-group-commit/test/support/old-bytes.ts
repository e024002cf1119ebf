// Prints how many bytes of the old generation many concurrent creates have filled.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GroupCommitPlantRepository } from '../../src/group-commit-plant-repository.js';
import { databaseWith, plant } from './database-with.js';

const CLIENTS = 200;
const ROUNDS = 200;
const NAME_BYTES = 1_000;

/** Collects all garbage. What is in use grows old. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find((it) => it.space_name === 'old_space');
  return old?.space_used_size ?? 0;
}

const plants = new GroupCommitPlantRepository(databaseWith());
let id = 0n;
const client = async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    id += 1n;
    await plants.add(plant(id, Buffer.alloc(NAME_BYTES, `${id}`).toString('latin1')), 60_000);
  }
};
const clients = Array.from({ length: CLIENTS }, client);
collectAll();
const before = oldBytes();
await Promise.all(clients);
process.stdout.write(
  JSON.stringify({ old: oldBytes() - before, written: CLIENTS * ROUNDS * NAME_BYTES }),
);
await plants.close();
