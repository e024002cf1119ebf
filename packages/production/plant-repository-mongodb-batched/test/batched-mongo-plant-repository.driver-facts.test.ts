import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import type { InsertRequest } from '@plant-store/plant-repository-group-commit';
import { type ReplicaSet, sharedReplicaSet } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { type Document, Long, MinKey, MongoClient, ObjectId } from 'mongodb';
import { MongoPlantDatabase } from '../src/mongo-plant-database.js';
import { MongoPlantInsert } from '../src/mongo-plant-insert.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  DATABASE,
  databaseAt,
  freshCollection,
  keptDocuments,
  networkInFrontOf,
  repositories,
  untilReady,
  uriThrough,
} from './support/open-store.js';
import { plant } from './support/plant.js';
import type { StoreEvents } from './support/store-events.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 300_000;

describeOnMongod('a plant', () => {
  let set: ReplicaSet;
  let collection: string;
  let repository: PlantRepository;
  let events: StoreEvents;
  let network: FaultyNetwork | undefined;
  const open = repositories();

  afterEach(() => network?.close());

  beforeEach(async () => {
    set = await sharedReplicaSet();
    ({ repository, events, collection } = open(set.uri));
    await repository.add(plant(-1n), LONG_LIMIT_MS);
  });

  async function names(): Promise<string[]> {
    return (await keptDocuments(set.uri, collection)).map(({ name }) => name).sort();
  }

  it('is stored while another program holds the id of another plant of its batch', async () => {
    const client = databaseAt(set.uri).client;
    const session = client.startSession();
    session.startTransaction();
    const held = { _id: Long.fromBigInt(2n), name: 'held' };
    const plants = client.db(DATABASE).collection<{ _id: Long }>(collection);
    await plants.insertOne(held, { session });
    const blocked = repository.add(plant(2n, 'blocked'), LONG_LIMIT_MS);
    const others = [1n, 3n].map((id) => repository.add(plant(id, 'other'), LONG_LIMIT_MS));
    await Promise.all([...others, rejects(repository.add(plant(-1n), LONG_LIMIT_MS))]);
    expect(await names()).to.deep.equal(['other', 'other', 'plant -1']);
    await session.abortTransaction();
    await session.endSession();
    await blocked;
    expect(await names()).to.deep.equal(['blocked', 'other', 'other', 'plant -1']);
  });

  it('is reported as stored, not taken, if replies to inserts are lost', async () => {
    network = await networkInFrontOf(set.members[0]?.port ?? 0);
    const { repository: proxied } = open(uriThrough(network), collection);
    await untilReady(proxied);
    network.loseResponses('cut', 'cut', 'silence');
    await proxied.add(plant(1n), LONG_LIMIT_MS);
    await rejects(proxied.add(plant(-1n, 'late'), LONG_LIMIT_MS), PlantIdTakenError);
    expect(await names()).to.deep.equal(['plant -1', 'plant 1']);
  });

  it('is sent in one numbered insert with a time limit, even if its id is taken', async () => {
    const weakened = `${set.uri}&readPreference=secondary&retryWrites=true`;
    ({ repository } = open(weakened, collection));
    const profile = databaseAt(set.uri);
    await profile.command({ profile: 2 });
    try {
      await repository.add(plant(1n), LONG_LIMIT_MS);
      await rejects(repository.add(plant(1n), LONG_LIMIT_MS), PlantIdTakenError);
    } finally {
      await profile.command({ profile: 0 });
    }
    const ofPlants = { ns: `${DATABASE}.${collection}`, op: { $in: ['insert', 'query'] } };
    const sent = await profile
      .collection('system.profile')
      .find(ofPlants)
      .sort({ ts: 1 })
      .toArray();
    expect(sent.map(({ op }) => op)).to.deep.equal(['insert', 'insert']);
    expect(sent[0]?.command.writeConcern).to.deep.equal({ w: 'majority', j: true });
    const numbers = sent.map(({ command }) => `${command.txnNumber}`);
    expect(new Set(numbers)).to.have.property('size', 2);
    expect(sent[0]?.command.maxTimeMS).to.be.within(1, LONG_LIMIT_MS);
  });

  it('is rejected alone if a validator refuses it, with an alert', async () => {
    const validator = { $jsonSchema: { properties: { name: { pattern: '^plant' } } } };
    await untilReady(repository);
    await databaseAt(set.uri).command({ collMod: collection, validator });
    const good = repository.add(plant(1n), LONG_LIMIT_MS);
    const bad = repository.add(plant(2n, 'weed'), LONG_LIMIT_MS);
    const another = repository.add(plant(3n), LONG_LIMIT_MS);
    await rejects(bad, { name: 'Error' });
    await Promise.all([good, another]);
    expect(await names()).to.deep.equal(['plant -1', 'plant 1', 'plant 3']);
    expect(events.of('plant refused')[0]).to.include({ id: 2n, code: 121 });
  });

  it('is stored even at the maximum body size', async () => {
    await repository.add(plant(1n, 'a'.repeat(16_000_000)), LONG_LIMIT_MS);
  });
});

describeOnMongod('a page', () => {
  const open = repositories();

  it('is rejected if another program has stored a document whose _id is not the id of a plant', async () => {
    const { uri } = await sharedReplicaSet();
    const { repository, collection } = open(uri);
    await repository.add(plant(1n), LONG_LIMIT_MS);
    await repository.add(plant(2n), LONG_LIMIT_MS);
    const documents = databaseAt(uri).collection<Document>(collection);
    const { id: after } = plant(1n);
    const ids = [new MinKey(), -1e300, NaN, 1e300, '7', { a: 1 }, new ObjectId(), false];
    for (const _id of ids) {
      await documents.insertOne({ _id } as Document, { bypassDocumentValidation: true });
      const pages = async () => {
        await repository.read({ limit: 1 }, LONG_LIMIT_MS);
        await repository.read({ after, limit: 2 }, LONG_LIMIT_MS);
      };
      await rejects(pages(), { code: 'UNREADABLE_PLANT' }, `${_id}`);
      await documents.deleteOne({ _id } as Document);
    }
    expect(await repository.read({ after, limit: 2 }, LONG_LIMIT_MS)).to.have.length(1);
  });
});

/** The driver serializes a command when it has a connection that can send it. */
describeOnMongod('an insert', () => {
  let network: FaultyNetwork;
  let database: MongoPlantDatabase;
  let collection: string;
  /** The ids of the batches that were sent, in this order. */
  let sent: bigint[];

  beforeEach(async () => {
    const set = await sharedReplicaSet();
    network = await networkInFrontOf(set.members[0]?.port ?? 0);
    collection = freshCollection();
    const options = { collection, createCollection: true };
    database = new MongoPlantDatabase(uriThrough(network), options);
    sent = [];
  });

  afterEach(async () => {
    await network.restore();
    await database.close();
    await network.close();
  });

  function batch(id: bigint): InsertRequest {
    return {
      timeLimitMs: LONG_LIMIT_MS,
      take() {
        if (!sent.includes(id)) sent.push(id);
        return [plant(id)];
      },
    };
  }

  const send = (it: InsertRequest) => database.newInsert().send(it);

  it('ends without a reply when its connection is lost', async () => {
    await send(batch(1n));
    network.freeze();
    const open = rejects(send(batch(2n)));
    await rejects(send(batch(3n)));
    expect(sent).to.deep.equal([1n, 2n]);
    await network.cut();
    await open;
  });

  it('that gets an error counts as not carried out only if the server limits the rate', async () => {
    const { members } = await sharedReplicaSet();
    const replyOnce = (errorCode: number) =>
      members[0]?.command({
        configureFailPoint: 'failCommand',
        mode: { times: 1 },
        data: { failCommands: ['insert'], namespace: `${DATABASE}.${collection}`, errorCode },
      });
    for (const [code, expected] of [
      [462, 'not now'],
      [11, 'unknown'],
      [8000, 'unusable'],
    ] as const) {
      await replyOnce(code);
      const result = await send(batch(BigInt(code)));
      expect(result.findings).to.equal(expected);
      expect(`${result.error}`).to.match(new RegExp(`the server reports error ${code}\\b`));
    }
  });

  it('outlives a login of the service if it was not sent, and otherwise is not repeatable', async () => {
    const client = new MongoClient((await sharedReplicaSet()).uri);
    const insert = new MongoPlantInsert({
      db: client.db(DATABASE),
      name: collection,
      knowsNumbers: () => true,
      nextNumber: () => 1,
      explain: (error) => ({ finding: 'unreachable', cause: error as Error }),
    });
    await rejects(insert.send({ ...batch(1n), take: () => [] }), /no longer waits/);
    // As a check does when the service must log in again.
    const logInAgain = () => client.close().then(() => client.connect());
    await logInAgain();
    expect((await insert.send(batch(1n))).findings).to.deep.equal(['stored']);
    expect(insert.isRepeatable).to.equal(true);
    await logInAgain();
    expect(insert.isRepeatable).to.equal(false);
    await client.close();
  });

  it('is carried out exactly once, however often it is sent', async () => {
    const insert = database.newInsert();
    for (const _ of [1, 2, 3]) {
      expect((await insert.send(batch(1n))).findings).to.deep.equal(['stored']);
    }
    expect((await send(batch(1n))).findings).to.deep.equal(['taken']);
    const overlapping = [insert, insert].map((it) => it.send(batch(1n)));
    for (const { findings } of await Promise.all(overlapping)) {
      expect(findings).to.deep.equal(['stored']);
    }
    insert.end?.();
  });
});
