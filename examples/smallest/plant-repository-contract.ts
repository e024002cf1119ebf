import { expect } from 'chai';
import { type Plant, PlantIdTakenError, type PlantRepository } from './plant-repository.ts';

/** A new, empty store; `reopen` opens another one on the same plants. */
export interface OpenStore {
  readonly plants: PlantRepository;
  readonly reopen: () => PlantRepository;
}

const monstera = { id: 1, name: 'Monstera' };
const refused = (plants: PlantRepository, plant: Plant) => plants.add(plant).catch((it) => it);

/** The promises of the port. */
const CASES = {
  'refuses an id that is taken': async ({ plants }: OpenStore) => {
    await plants.add(monstera);
    expect(await refused(plants, { id: 1, name: 'Ficus' })).to.be.instanceOf(PlantIdTakenError);
  },
  'stores only one of two plants with the same id': async ({ plants }: OpenStore) => {
    const ends = await Promise.allSettled([plants.add(monstera), plants.add(monstera)]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  },
  'keeps its plants': async ({ plants, reopen }: OpenStore) => {
    await plants.add(monstera);
    expect(await refused(reopen(), monstera)).to.be.instanceOf(PlantIdTakenError);
  },
};

/** The contract suite: the promises of the port as tests, for every adapter. `without` says which an adapter does not give. */
export function describePlantRepository(
  adapter: string,
  open: () => OpenStore | Promise<OpenStore>,
  without: readonly (keyof typeof CASES)[] = [],
): void {
  describe(adapter, () => {
    for (const [name, check] of Object.entries(CASES)) {
      const isExcused = without.some((it) => it === name);
      (isExcused ? it.skip : it)(name, async () => check(await open()));
    }
  });
}
