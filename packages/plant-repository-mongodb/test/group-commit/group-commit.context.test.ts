import { AsyncLocalStorage } from 'node:async_hooks';
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

const LIMITS = { maxPending: 10_000, batch: { maxItems: 1_000, maxBytes: 2 ** 22 } };
const TIME_LIMIT_MS = 10_000;

describeOnMongod('The asynchronous context of a caller', () => {
  const context = new AsyncLocalStorage<string>();
  let client: MongoClient;
  let plants: GroupCommit;
  let seen: [string, string | undefined][];

  beforeEach(async () => {
    seen = [];
    client = createMongoClient((await sharedReplicaSet()).uri);
    client.on('commandStarted', ({ commandName }: CommandStartedEvent) => {
      seen.push([commandName, context.getStore()]);
    });
    const db = client.db(DATABASE);
    const collection = new MongoPlantCollection(client, db, freshCollection(), UNOBSERVED);
    plants = new GroupCommit(collection, LIMITS, () => undefined);
  });

  afterEach(async () => {
    await plants.close();
    await client.close();
  });

  /** Calls `add` within a context, and resolves with the context afterwards. */
  const addWithin = (name: string, id: bigint) =>
    context.run(name, async () => {
      await plants.add(toDocument(plant(id)), TIME_LIMIT_MS).catch(() => undefined);
      return context.getStore();
    });

  it('continues after `add`', async () => {
    const names = ['request 1', 'request 2', 'request 3'];
    const after = await Promise.all(names.map((name, id) => addWithin(name, BigInt(id))));
    expect(after).to.deep.equal(names);
  });

  it('is not used for the commands, which serve many callers', async () => {
    await Promise.all([addWithin('request 1', 1n), addWithin('request 2', 2n)]);
    await Promise.all([addWithin('request 3', 1n), addWithin('request 4', 3n)]);
    expect(seen.map(([command]) => command)).to.include.members(['insert', 'find']);
    expect(seen.filter(([, request]) => request !== undefined)).to.deep.equal([]);
  });
});
