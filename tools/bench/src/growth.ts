import type { ReplicaSet } from '@plant-store/mongod';
import { Long, MongoClient, ObjectId } from 'mongodb';
import { type CompareOptions, compare, measure, type Sample } from './compare.js';
import { delayingProxy } from './delaying-proxy.js';
import { ownLoad } from './load-process.js';
import { durable, type Subject } from './subject.js';

/** The database and the times of these measurements. */
export interface Extra {
  readonly set: ReplicaSet;
  readonly pids: readonly number[];
  readonly warmUpRunMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const ROUNDS = 5;
const INSERT_SIZE = 10_000;
const DELAY_EACH_WAY_MS = 5;

/** Measures creates in a collection with `plants` plants with random ids, compared with an empty one. */
export async function growth(extra: Extra, plants: number): Promise<Sample[]> {
  const { set, pids } = extra;
  await fill(set.uri, 'grown', plants);
  const subjects = (round: number): Subject[] => [
    { ...service(set.uri, `empty-${round}`), name: 'empty' },
    { ...service(set.uri, 'grown'), name: `${plants.toLocaleString('en')} plants` },
  ];
  return compare(subjects, pids, { ...options(extra, [50, 200]), rounds: ROUNDS });
}

/** Measures the service with 1 to 5,000 connections. */
export async function connectionCounts(extra: Extra): Promise<Sample[]> {
  const subject = service(extra.set.uri, 'connections');
  const roomy = { ...subject, env: { ...subject.env, MAX_IN_FLIGHT: '10000' } };
  return measure(roomy, 0, extra.pids, options(extra, [1, 10, 100, 1000, 5000]));
}

/** Compares the durable subjects with a database whose round trips take 10 ms. */
export async function databaseDelay(extra: Extra): Promise<Sample[]> {
  const { set, pids } = extra;
  const [host = '', port] = (set.members[0]?.host ?? '').split(':');
  const proxy = await delayingProxy(host, Number(port), DELAY_EACH_WAY_MS);
  // A direct connection, because the addresses in the configuration of the replica set bypass the proxy.
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

function options(
  { warmUpRunMs, warmUpMs, windowMs }: Extra,
  connections: number[],
): CompareOptions {
  return { rounds: 1, connections, loads: [ownLoad], warmUpRunMs, warmUpMs, windowMs };
}

async function fill(uri: string, name: string, plants: number): Promise<void> {
  const client = new MongoClient(uri, { writeConcern: { w: 1 } });
  const collection = client.db('plant-store').collection<{ _id: Long }>(name);
  for (let left = plants; left > 0; left -= INSERT_SIZE) {
    const count = Math.min(left, INSERT_SIZE);
    await collection.insertMany(Array.from({ length: count }, randomPlant), { ordered: false });
  }
  // A checkpoint, so that the later windows do not include the time to write these documents to the disk.
  await client.db('admin').command({ fsync: 1 });
  await client.close();
}

function randomPlant() {
  const _id = Long.fromNumber(1e15 + Math.floor(Math.random() * 8e15));
  return { _id, name: 'Monstera deliciosa', tag: 'tropical', mark: new ObjectId() };
}
