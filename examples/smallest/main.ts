import { CreatePlant } from './create-plant.ts';
import { createApp } from './http-koa.ts';
import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { StaticTokenVerifier } from './static-token-verifier.ts';

// The composition root: the only file that knows every adapter.
const createPlant = new CreatePlant(new StaticTokenVerifier('demo'), new MemoryPlantRepository());
createApp(createPlant).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
