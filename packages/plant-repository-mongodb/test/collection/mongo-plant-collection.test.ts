import { expect } from 'chai';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { DATABASE, UNOBSERVED } from '../support/open-store.js';
import { plant } from '../support/plant.js';

const CLOSED_PORT = 'mongodb://127.0.0.1:1/';
const TIME_LIMIT_MS = 1_000;

describe('A collection that refuses plants', () => {
  const client = createMongoClient(CLOSED_PORT);
  const collection = new MongoPlantCollection(client, client.db(DATABASE), 'plants', UNOBSERVED);
  const insert = () => collection.insert([toDocument(plant(1n))], TIME_LIMIT_MS);
  const error = new Error('Authentication failed.');

  after(() => client.close());

  it('cancels the inserts that wait for a server', async () => {
    const waiting = insert();
    collection.refusePlants('credentials', error);
    expect(await waiting.result).to.deep.equal({ sent: false, error });
  });

  it('refuses further inserts', async () => {
    collection.refusePlants('credentials', error);
    expect(await insert().result).to.deep.equal({ sent: false, refusedBeforehand: true, error });
  });

  it('accepts inserts when every obstacle is gone', async () => {
    collection.refusePlants('credentials', error);
    collection.refusePlants('collection', new Error('it is a view'));
    collection.acceptPlants('credentials');
    expect(await insert().result).to.have.property('refusedBeforehand', true);
    collection.acceptPlants('collection');
    const waiting = insert();
    waiting.abort();
    expect(await waiting.result).to.not.have.property('refusedBeforehand');
  });
});
