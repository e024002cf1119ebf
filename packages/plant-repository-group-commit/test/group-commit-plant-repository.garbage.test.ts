import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { GroupCommitPlantRepository } from '../src/group-commit-plant-repository.js';
import { databaseWith, plant } from './support/database-with.js';

const CLIENTS = 200;
const ROUNDS = 200;
/** The names of all plants. */
const WRITTEN_BYTES = CLIENTS * ROUNDS * 1_000;

/** Collects all garbage. What is in use grows old. */
function collectAll(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find((it) => it.space_name === 'old_space');
  return old?.space_used_size ?? 0;
}

describe('What a group commit repository keeps of plants that have ended', () => {
  it('is collected early, with no full garbage collection', async () => {
    const plants = new GroupCommitPlantRepository(databaseWith());
    let id = 0n;
    const client = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        id += 1n;
        await plants.add(plant(id, Buffer.alloc(1_000, `${id}`).toString('latin1')), 60_000);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    collectAll();
    const before = oldBytes();
    await Promise.all(clients);
    expect(oldBytes() - before).to.be.below(WRITTEN_BYTES / 10);
    await plants.close();
  });
});
