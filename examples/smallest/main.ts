import { createContainer } from './container.ts';
import { CreatePlant } from './create-plant.ts';
import { createApp } from './http-koa.ts';

const { MONGODB_URI, PORT = '3000' } = process.env;
const createPlant = createContainer(MONGODB_URI).get(CreatePlant);
createApp(createPlant).listen(Number(PORT), '127.0.0.1');
