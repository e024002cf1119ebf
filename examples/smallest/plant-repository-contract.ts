import { expect } from 'chai';
import { PlantIdTakenError, type PlantRepository } from './plant-repository.ts';

/** Opens a repository. Repositories that the same function opens work on the same plants. */
type Open = () => PlantRepository;

const monstera = { id: 1n, name: 'Monstera' };

const expectTaken = async (adding: Promise<void>) =>
  expect(await adding.catch((error) => error)).to.be.instanceOf(PlantIdTakenError);

/** The promises of the port. */
const CASES = {
  'refuses an id that is taken': async (open: Open) => {
    const plants = open();
    await plants.add(monstera);
    await expectTaken(plants.add({ id: 1n, name: 'Ficus' }));
  },
  'stores only one of two plants with the same id': async (open: Open) => {
    const plants = open();
    const ends = await Promise.allSettled([plants.add(monstera), plants.add(monstera)]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  },
  'keeps its plants': async (open: Open) => {
    await open().add(monstera);
    await expectTaken(open().add(monstera));
  },
};

/** The contract suite: the promises of the port as tests, for every adapter. `without` names those that it does not give. */
export function describePlantRepository(
  adapter: string,
  newStore: () => Promise<Open>,
  without: readonly string[] = [],
): void {
  describe(adapter, () => {
    for (const [name, check] of Object.entries(CASES)) {
      const test = without.includes(name) ? it.skip : it;
      test(name, async () => check(await newStore()));
    }
  });
}
