import { rejects } from 'node:assert/strict';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { sharedReplicaSet } from '@plant-store/mongod';
import type { PlantBatch } from '@plant-store/plant-repository-group-commit';
import { expect } from 'chai';
import { MongoPlantStorage } from '../src/mongo-plant-storage.js';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  DATABASE,
  databaseAt,
  freshCollection,
  networkInFrontOf,
  uriThrough,
} from './support/open-store.js';
import { plant } from './support/plant.js';

const LONG_LIMIT_MS = 60_000;
const NEVER = new AbortController().signal;

/** The driver serializes a command when it has a connection that can send it. */
describeOnMongod('An insert', () => {
  let network: FaultyNetwork;
  let storage: MongoPlantStorage;
  let collection: string;
  /** The ids of the batches that were sent, in this order. */
  let sent: bigint[];

  beforeEach(async () => {
    const set = await sharedReplicaSet();
    network = await networkInFrontOf(set.members[0]?.port ?? 0);
    collection = freshCollection();
    const options = { collection, createCollection: true };
    storage = new MongoPlantStorage(uriThrough(network), options);
    sent = [];
  });

  afterEach(async () => {
    await network.restore();
    await storage.close();
    await network.close();
  });

  function batch(id: bigint, mark = storage.newMark()): PlantBatch {
    return {
      timeLimitMs: LONG_LIMIT_MS,
      take() {
        if (!sent.includes(id)) sent.push(id);
        return [{ plant: plant(id), mark }];
      },
    };
  }

  it('is sent on a connection only, and ends without a reply when that is lost', async () => {
    await storage.insert(batch(1n), NEVER);
    network.freeze();
    const open = rejects(storage.insert(batch(2n), NEVER));
    await rejects(storage.insert(batch(3n), NEVER));
    expect(sent).to.deep.equal([1n, 2n]);
    await network.cut();
    await open;
  });

  it('has stored its valid plants when the reply is too large for the server', async () => {
    // The reply repeats the name for every violated rule.
    const allOf = Array(16).fill({ properties: { name: { pattern: '^plant' } } });
    const validated = databaseAt((await sharedReplicaSet()).uri);
    await validated.createCollection(collection, { validator: { $jsonSchema: { allOf } } });
    const long = 'x'.repeat(600_000);
    const names = [`plant ${long}`, `weed ${long}`, `weed ${long}`, `plant ${long}`];
    const plants = names.map((name, id) => ({
      plant: plant(BigInt(id), name),
      mark: storage.newMark(),
    }));
    // MongoDB 4.4 has a shorter reply, and no error.
    const batch = { timeLimitMs: LONG_LIMIT_MS, take: () => plants };
    await storage.insert(batch, NEVER).catch(() => undefined);
    const found = await storage.committedMarks([0n, 1n, 2n, 3n], NEVER);
    expect([...found.keys()]).to.have.members([0n, 3n]);
  });

  it('was not carried out when the server limits the rate; other errors are those of the server', async () => {
    const { members } = await sharedReplicaSet();
    const replyOnce = (errorCode: number) =>
      members[0]?.command({
        ...{ configureFailPoint: 'failCommand', mode: { times: 1 } },
        data: { failCommands: ['insert'], namespace: `${DATABASE}.${collection}`, errorCode },
      });
    await replyOnce(462);
    const { outcomes, error } = await storage.insert(batch(1n), NEVER);
    expect(outcomes).to.equal('not written');
    expect(`${error}`).to.match(/the server reports error 462/);
    for (const code of [11, 18, 8000]) {
      await replyOnce(code);
      const message = new RegExp(`^the server reports error ${code}\\b`);
      await rejects(storage.insert(batch(BigInt(code)), NEVER), { message });
    }
  });

  it('does not keep a look-up from being ended', async () => {
    await storage.insert(batch(1n), NEVER);
    network.freeze();
    const end = new AbortController();
    const reason = new Error('no client waits');
    const looking = storage.committedMarks([1n], end.signal);
    end.abort(reason);
    await rejects(looking, reason);
  });
});
