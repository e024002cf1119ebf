import { mock } from 'node:test';
import { newPlant, StoreUnavailableError } from '@plant-store/domain';
import type { StoreEvent } from '@plant-store/plant-repository-group-commit';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { expect } from 'chai';
import { watched } from '../../src/configuration/watched-store.js';

/** A store that is ready unless there is a problem, which it rejects with. */
class ChangingStore extends MemoryPlantRepository {
  problem: string | undefined;

  override async ready(): Promise<void> {
    if (this.problem !== undefined) throw new StoreUnavailableError(this.problem);
  }
}

describe('A watched store', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('reports each change exactly once, until it is closed', async () => {
    const plants = new ChangingStore();
    const events: StoreEvent[] = [];
    const store = watched(plants, (event) => events.push(event));
    const afterSeconds = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await new Promise(setImmediate);
        mock.timers.tick(1_000);
      }
      await new Promise(setImmediate);
      return events.splice(0).map((it) => ('error' in it ? it.error.message : it.type));
    };
    expect(await afterSeconds(3)).to.deep.equal(['store reachable']);
    plants.problem = 'no primary';
    expect(await afterSeconds(3)).to.deep.equal(['no primary']);
    plants.problem = 'no majority';
    expect(await afterSeconds(3)).to.deep.equal(['no majority']);
    plants.problem = undefined;
    expect(await afterSeconds(1)).to.deep.equal(['store reachable']);
    await store.close();
    plants.problem = 'closed';
    expect(await afterSeconds(3)).to.deep.equal([]);
  });

  it('can be read if the store can', async () => {
    const plant = newPlant({ id: 1n, name: 'Monstera' });
    class ReadableStore extends ChangingStore {
      readonly #plants = [plant];

      async read() {
        return this.#plants;
      }
    }
    const ignore = () => undefined;
    const [read, unread] = [
      watched(new ReadableStore(), ignore),
      watched(new ChangingStore(), ignore),
    ];
    expect(await read.read?.({ limit: 1 }, 1)).to.deep.equal([plant]);
    expect(unread).not.to.have.property('read');
  });
});
