import { rejects } from 'node:assert/strict';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { sharedReplicaSet } from '@plant-store/mongod';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { MongoPlantCollection } from '../../src/collection/mongo-plant-collection.js';
import { toDocument } from '../../src/collection/plant-document.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';
import { describeOnMongod } from '../support/describe-on-mongod.js';
import { DATABASE, freshCollection, networkInFrontOf, uriThrough } from '../support/open-store.js';
import { plant } from '../support/plant.js';

const SHORT_LIMIT_MS = 300;
const LONG_LIMIT_MS = 60_000;

/** The driver serializes a command when it has a connection that can send it. */
describeOnMongod('The documents of an insert', () => {
  let network: FaultyNetwork;
  let client: MongoClient;
  let collection: MongoPlantCollection;
  let refusal: Error | undefined;
  let reached: () => Promise<void> | undefined;
  let reads: number;

  beforeEach(async () => {
    const set = await sharedReplicaSet();
    network = await networkInFrontOf(set.members[0]?.port ?? 0);
    client = createMongoClient(uriThrough(network));
    refusal = undefined;
    reached = () => undefined;
    reads = 0;
    collection = new MongoPlantCollection(client.db(DATABASE), freshCollection(), {
      get refusal() {
        return refusal;
      },
      reached: () => reached(),
    });
  });

  afterEach(async () => {
    await client.close();
    await network.close();
  });

  function insert(timeLimitMs = LONG_LIMIT_MS) {
    return collection.insert(() => {
      reads += 1;
      return [toDocument(plant(BigInt(reads)))];
    }, timeLimitMs);
  }

  it('are read once, when it is sent', async () => {
    expect(await insert()).to.deep.equal({ kind: 'reply', n: 1, writeErrors: [] });
    expect(reads).to.equal(1);
  });

  it('have been read when it ends at its time limit, but not while another waits for a connection', async () => {
    await insert();
    network.freeze();
    const [sent, waiting] = await Promise.all([insert(SHORT_LIMIT_MS), insert(SHORT_LIMIT_MS)]);
    expect(sent).to.deep.equal({ kind: 'failed', error: new Error('the insert timed out') });
    expect(waiting).to.have.property('kind', 'not sent');
    expect(reads).to.equal(2);
  });

  it('are not read when no server can be reached', async () => {
    await network.cut();
    expect(await insert()).to.have.property('kind', 'not sent');
    expect(reads).to.equal(0);
  });

  it('are not read while plants are refused, nor before the database was reached', async () => {
    refusal = new Error('it is a view');
    expect(await insert()).to.deep.equal({ kind: 'refused', error: refusal });
    await rejects(collection.committedMarks([1n], LONG_LIMIT_MS), refusal);
    refusal = undefined;
    const error = new Error('not yet');
    reached = () => Promise.reject(error);
    expect(await insert()).to.deep.equal({ kind: 'not sent', error });
    expect(reads).to.equal(0);
  });
});
