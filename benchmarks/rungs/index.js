import { MongoPlantRepository as Rung2b } from '@plant-store/plant-repository-mongodb';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { Rung0 } from './rung0.js';
import { Rung1 } from './rung1.js';
import { Rung2 } from './rung2.js';

const classes = { 0: Rung0, 1: Rung1, 2: Rung2, '2b': Rung2b };
for (const name of ['3', '3b']) {
  try {
    Object.assign(classes, { [name]: (await import(`./rung${name}.js`)).default });
  } catch (e) {
    if (e.code !== 'ERR_MODULE_NOT_FOUND') throw e;
  }
}
export function openRung(name, uri, collection, observer) {
  if (name === '4') return mongoPlantRepository({ uri, collection, observer });
  return new classes[name](uri, collection);
}
