import { createContainer } from './container.ts';
import { CreatePlant } from './create-plant.ts';
import { createApp } from './http-koa.ts';

const createPlant = createContainer(process.env.MONGODB_URI).get(CreatePlant);
createApp(createPlant).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
