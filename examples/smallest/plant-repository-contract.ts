import { expect } from 'chai';
import { PlantIdTakenError, type PlantRepository } from './plant-repository.ts';

/** The contract suite: the promises of the port as tests, for every adapter. */
export function describePlantRepository(adapter: string, open: () => PlantRepository): void {
  const monstera = { id: 1, name: 'Monstera' };
  describe(adapter, () => {
    it('refuses an id that is taken', async () => {
      const plants = open();
      await plants.add(monstera);
      const error = await plants.add({ id: 1, name: 'Ficus' }).catch((reason) => reason);
      expect(error).to.be.instanceOf(PlantIdTakenError);
    });

    it('stores only one of two plants with the same id', async () => {
      const plants = open();
      const ends = await Promise.allSettled([plants.add(monstera), plants.add(monstera)]);
      expect(ends.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    });
  });
}
