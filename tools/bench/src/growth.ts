import type { ReplicaSet } from '@plant-store/mongod';
import { Long, MongoClient, ObjectId } from 'mongodb';
import { type CompareOptions, compare, measure, type Sample } from './compare.js';
import { delayingProxy } from './delaying-proxy.js';
import { ownLoad } from './load-process.js';
import { durable, type Subject } from './subject.js';

export interface Extra {
  readonly set: ReplicaSet;
  readonly pids: readonly number[];
  readonly runInMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const ROUNDS = 5;
const AT_ONCE = 10_000;
const DELAY_EACH_WAY_MS = 5;

/** Creates into a collection that holds `plants` with random ids, beside an empty one. */
export async function growth(extra: Extra, plants: number): Promise<Sample[]> {
  const { set, pids } = extra;
  await fill(set.uri, 'grown', plants);
  const subjects = (round: number): Subject[] => [
    { ...service(set.uri, `empty-${round}`), name: 'empty' },
    { ...service(set.uri, 'grown'), name: `${plants.toLocaleString('en')} plants` },
  ];
  return compare(subjects, pids, { ...options(extra, [50, 200]), rounds: ROUNDS });
}

/** The service alone, with ever more connections and room for a request of each. */
export async function connectionCounts(extra: Extra): Promise<Sample[]> {
  const subject = service(extra.set.uri, 'connections');
  const roomy = { ...subject, env: { ...subject.env, MAX_IN_FLIGHT: '10000' } };
  return measure(roomy, 0, extra.pids, options(extra, [1, 10, 100, 1000, 5000]));
}

/** With the database 10 ms away, there and back. */
export async function databaseDelay(extra: Extra): Promise<Sample[]> {
  const { set, pids } = extra;
  const [host = '', port] = (set.members[0]?.host ?? '').split(':');
  const proxy = await delayingProxy(host, Number(port), DELAY_EACH_WAY_MS);
  // Directly: the set's own view of itself would lead past the proxy.
  const uri = `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`;
  try {
    const subjects = (round: number) => durable(uri, `delay-${round}`);
    return await compare(subjects, pids, { ...options(extra, [1, 50, 200]), rounds: ROUNDS });
  } finally {
    proxy.close();
  }
}

function service(uri: string, collection: string): Subject {
  const [subject] = durable(uri, collection);
  if (subject === undefined) throw new Error('there is no durable subject');
  return subject;
}

function options({ runInMs, warmUpMs, windowMs }: Extra, connections: number[]): CompareOptions {
  return { rounds: 1, connections, loads: [ownLoad], runInMs, warmUpMs, windowMs };
}

async function fill(uri: string, name: string, plants: number): Promise<void> {
  const client = new MongoClient(uri, { writeConcern: { w: 1 } });
  const collection = client.db('plant-store').collection<{ _id: Long }>(name);
  for (let left = plants; left > 0; left -= AT_ONCE) {
    const count = Math.min(left, AT_ONCE);
    await collection.insertMany(Array.from({ length: count }, randomPlant), { ordered: false });
  }
  // A checkpoint now, so that writing all of these to the disk is not what is measured.
  await client.db('admin').command({ fsync: 1 });
  await client.close();
}

function randomPlant() {
  const _id = Long.fromNumber(1e15 + Math.floor(Math.random() * 8e15));
  return { _id, name: 'Monstera deliciosa', tag: 'tropical', mark: new ObjectId() };
}
