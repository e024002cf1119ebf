import { adapters, application, ids, readSettings } from '@plant-store/app';
import { type NewPlant, newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { Container } from 'inversify';

const settings = readSettings({});

function createContainer(): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.load(application({}), adapters(settings));
  return container;
}

describe('The container', () => {
  it('lets another adapter take a place', async () => {
    const added: NewPlant[] = [];
    const container = createContainer();
    const plants = {
      add: async (it: NewPlant) => void added.push(it),
      ready: async () => {},
      close: async () => {},
    };
    (await container.rebindAsync(ids.plantRepository)).toConstantValue(plants);
    const creator = await (await container.getAsync(ids.createPlant)).authorize('demo');
    await creator.create(newPlant({ id: 1n, name: 'Monstera' }), 1000);
    expect(added).to.have.length(1);
  });

  it('closes its adapters', async () => {
    const container = createContainer();
    const plants = await container.getAsync(ids.plantRepository);
    await container.unbindAllAsync();
    const error = await plants.ready().catch((reason: unknown) => reason);
    expect(`${error}`).to.include('the store is closed');
  });
});
