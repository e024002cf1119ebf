import { newPlant, PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';

class CountedPlants extends MemoryPlantRepository {
  count = 0;

  override async add(...args: Parameters<PlantRepository['add']>): Promise<void> {
    await super.add(...args);
    this.count += 1;
  }
}

async function main(): Promise<void> {
  const plants = new CountedPlants();
  const plant = newPlant({ id: 1n, name: 'Monstera' });
  await plants.add(plant, 1000);
  const taken: unknown = await plants.add(plant, 1000).catch((error: unknown) => error);
  const code = taken instanceof PlantIdTakenError ? taken.code : taken;
  process.stdout.write(JSON.stringify({ count: plants.count, code }));
}

void main();
