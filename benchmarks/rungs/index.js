import { MongoPlantRepository as Rung2b } from '@plant-store/plant-repository-mongodb';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { Rung3b } from './rung3b.js';

const classes = { '2b': Rung2b, '3b': Rung3b };

export function openRung(name, uri, collection, observer) {
  if (name === '4') return mongoPlantRepository({ uri, collection, observer });
  return new classes[name](uri, collection);
}
