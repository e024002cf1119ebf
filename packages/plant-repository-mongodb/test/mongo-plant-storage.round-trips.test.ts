import { rejects } from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { PlantIdTakenError } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { GroupCommit } from '../../src/group-commit/group-commit.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { DATABASE, freshCollection } from '../support/open-store.js';
import { plant } from '../support/plant.js';

const LIMITS = { maxPending: 10_000, batch: { maxItems: 1_000, maxBytes: 2 ** 22 } };
const TIME_LIMIT_MS = 10_000;

/** Longer than an insert may take. */
const STALL_MS = 1_500;

/** The thread does nothing else until it returns. */
function stall(): void {
  const end = performance.now() + STALL_MS;
  while (performance.now() < end);
}

describeOnMongod('Round trips', () => {
  const context = new AsyncLocalStorage<string>();
  let client: MongoClient;
  let plants: GroupCommit;
  let commands: string[];
  let readConcern: unknown;
  let contexts: unknown[];

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    client = new MongoClient(uri, { monitorCommands: true });
    await client.db(DATABASE).command({ ping: 1 });
    commands = [];
    contexts = [];
    client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
      commands.push(commandName);
      contexts.push(context.getStore());
      readConcern = command.readConcern;
    });
    const available = { refusal: undefined, reached: () => undefined };
    const db = client.db(DATABASE);
    const collection = new MongoPlantCollection(db, freshCollection(), available);
    plants = new GroupCommit(collection, LIMITS, () => undefined);
  });

  afterEach(async () => {
    await plants.close();
    await client.close();
  });

  const add = (id: number) => plants.add(toDocument(plant(BigInt(id))), TIME_LIMIT_MS);

  it('are one for a single create', async () => {
    await add(1);
    expect(commands).to.deep.equal(['insert']);
  });

  it('are one for a create whose reply arrives while the event loop is stalled past its time limit', async () => {
    await add(1);
    client.once('commandStarted', () => setImmediate(stall));
    await plants.add(toDocument(plant(2n)), STALL_MS / 2);
    expect(commands).to.deep.equal(['insert', 'insert']);
  });

  it('are two for a duplicate: its insert and a read-back', async () => {
    await add(1);
    commands = [];
    await rejects(add(1), PlantIdTakenError);
    expect(commands).to.deep.equal(['insert', 'find']);
    expect(readConcern).to.deep.include({ level: 'majority' });
  });

  it('are two for 200 concurrent creates: one for the first, and one for all others', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, id) => add(id)));
    expect(commands).to.deep.equal(['insert', 'insert']);
  });

  it('are one for each of several creates in sequence', async () => {
    for (let id = 0; id < 5; id += 1) await add(id);
    expect(commands).to.deep.equal(Array(5).fill('insert'));
  });

  it('have no asynchronous context of a caller, which continues after `add`', async () => {
    const addWithin = (name: string, id: number) =>
      context.run(name, async () => {
        await add(id).catch(() => undefined);
        return context.getStore();
      });
    const names = ['request 1', 'request 2', 'request 3', 'request 4'];
    const after = await Promise.all(names.map((name, at) => addWithin(name, at % 3)));
    expect(after).to.deep.equal(names);
    expect(commands).to.include.members(['insert', 'find']);
    expect(new Set(contexts)).to.deep.equal(new Set([undefined]));
  });
});
