import { MongoPlantRepository as Rung2b } from '@plant-store/plant-repository-mongodb';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { Rung0 } from './rung0.js';
import { Rung1 } from './rung1.js';
import { Rung2 } from './rung2.js';
import { Rung3 } from './rung3.js';
import { Rung3b } from './rung3b.js';

const classes = { 0: Rung0, 1: Rung1, 2: Rung2, '2b': Rung2b, 3: Rung3, '3b': Rung3b };

export function openRung(name, uri, collection, observer) {
  if (name === '4') return mongoPlantRepository({ uri, collection, observer });
  return new classes[name](uri, collection);
}
