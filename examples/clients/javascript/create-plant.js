// ACCESS_TOKEN=… node create-plant.js http://127.0.0.1:3000 'Monstera deliciosa'
import { newPlantId, OutcomeUnknownError, PlantStoreClient } from './plant-store-client.js';

const [address = '', name = ''] = process.argv.slice(2);
const plants = new PlantStoreClient(address, process.env.ACCESS_TOKEN ?? '');
const plant = { id: newPlantId(), name };
await plants.create(plant).catch((error) => {
  if (!(error instanceof OutcomeUnknownError)) throw error;
  return plants.createAgain(plant); // Later, from wherever you keep the plant.
});
process.stdout.write(`stored ${plant.id}\n`);
