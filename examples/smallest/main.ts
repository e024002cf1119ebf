import { CreatePlant } from './create-plant.ts';
import { createApp } from './http-koa.ts';
import { MemoryPlantRepository } from './memory-plant-repository.ts';

// The composition root: the only file that knows every adapter.
const app = createApp(new CreatePlant(new MemoryPlantRepository()), 'demo');
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
