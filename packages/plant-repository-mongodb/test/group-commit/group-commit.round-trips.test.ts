import { rejects } from 'node:assert/strict';
import { PlantIdTakenError } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import type { CommandStartedEvent, MongoClient } from 'mongodb';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { GroupCommit } from '../../src/group-commit/group-commit.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { DATABASE, freshCollection, UNOBSERVED } from '../support/open-store.js';
import { plant } from '../support/plant.js';

const LIMITS = { pending: 10_000, batch: { items: 1_000, bytes: 2 ** 22 } };
const TIME_LIMIT = 10_000;

describeOnMongod('Round trips', () => {
  let client: MongoClient;
  let collection: MongoPlantCollection;
  let plants: GroupCommit;
  let commands: string[];
  let readConcern: unknown;

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    client = createMongoClient(uri);
    await client.db(DATABASE).command({ ping: 1 });
    commands = [];
    client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
      commands.push(commandName);
      readConcern = command.readConcern;
    });
    collection = new MongoPlantCollection(
      client,
      client.db(DATABASE),
      freshCollection(),
      UNOBSERVED,
    );
    plants = new GroupCommit(collection, LIMITS, () => undefined);
  });

  afterEach(async () => {
    await plants.close();
    await client.close();
  });

  const add = (id: number) => plants.add(toDocument(plant(BigInt(id))), TIME_LIMIT);

  it('are one for a single create', async () => {
    await add(1);
    expect(commands).to.deep.equal(['insert']);
  });

  it('are two for a duplicate: its insert, and a look at what a majority keeps', async () => {
    await add(1);
    commands = [];
    await rejects(add(1), PlantIdTakenError);
    expect(commands).to.deep.equal(['insert', 'find']);
    expect(readConcern).to.deep.include({ level: 'majority' });
  });

  it('are two for 200 creates at once: the first, and all that came while it was under way', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, id) => add(id)));
    expect(commands).to.deep.equal(['insert', 'insert']);
  });

  it('write nothing to learn about the permissions', async () => {
    await collection.check(TIME_LIMIT);
    expect(commands).to.have.members(['find', 'connectionStatus']);
  });

  it('are one for each create of a caller that waits for every response', async () => {
    for (let id = 0; id < 5; id += 1) await add(id);
    expect(commands).to.deep.equal(Array(5).fill('insert'));
  });
});
