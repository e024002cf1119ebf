import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { MongoClient } from 'mongodb';
import { implementations } from '../implementations/implementations.js';
import { type Subject, start } from '../peers.js';
import { Clients, type Create } from './clients.js';
import { type Fault, faults } from './faults.js';
import type { Watch } from './watch.js';

/** MongoDB's default. */
const ELECTION_MS = 10_000;
/** The time before the first fault, and after each. */
const CALM_MS = 4_000;

/** A fault that happened. Times are milliseconds of `performance.now()`. */
export interface Happened {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** What the responses of one implementation reported, and what is stored. */
export interface ImplementationResult {
  readonly name: string;
  readonly isService: boolean;
  readonly creates: readonly Create[];
  readonly ids: ReadonlySet<number>;
}

export interface Run {
  /** When the clients began, in milliseconds of `performance.now()`. */
  readonly began: number;
  readonly happened: readonly Happened[];
  readonly results: readonly ImplementationResult[];
  /** How long this process, which measures the waits, did nothing: each wait can be longer by as much. */
  readonly longestStallMs: number;
}

/**
 * Lets clients of each implementation create plants while the primary of its replica set fails. All of them meet each fault at the same
 * moment.
 *
 * @param seconds How long the primary is killed, and how long it is frozen.
 */
export async function demo(seconds: number, watch: Watch): Promise<Run> {
  watch.say('starting three MongoDB servers and five services; takes one to two minutes');
  const set = await ReplicaSet.start({ members: 3, electionTimeoutMs: ELECTION_MS });
  const started = await Promise.all(
    implementations.map(async (implementation) => ({
      implementation,
      subject: await start(inCollection(implementation.subject, set.uri)),
    })),
  );
  const began = performance.now();
  const turns = monitorEventLoopDelay();
  turns.enable();
  const running = started.map(({ implementation, subject }) => {
    return { implementation, subject, clients: new Clients(implementation.name, subject) };
  });
  watch.begin(running.map(({ clients }) => clients));
  await pause(CALM_MS);
  const happened: Happened[] = [];
  for (const fault of faults) happened.push(await cause(fault, set, seconds, watch));
  watch.say('the clients stop after their last responses');
  await Promise.all(running.map(({ clients }) => clients.stop()));
  watch.end();
  turns.disable();
  const results = await Promise.all(
    running.map(async ({ implementation: { name, isService }, clients: { creates } }) => {
      return { name, isService, creates, ids: await idsIn(set.uri, name) };
    }),
  );
  await Promise.all(running.map(({ subject }) => subject.stop()));
  await set.stop();
  return { began, happened, results, longestStallMs: Math.round(turns.max / 1e6) };
}

/** Each implementation has a collection of its own, with its name. */
function inCollection(subject: Subject, uri: string): Subject {
  return {
    ...subject,
    env: { ...subject.env, MONGODB_URI: uri, MONGODB_COLLECTION: subject.name },
  };
}

async function cause(
  fault: Fault,
  set: ReplicaSet,
  seconds: number,
  watch: Watch,
): Promise<Happened> {
  watch.say(fault.begins);
  const from = performance.now();
  const ending = await fault.begin(set);
  if (ending !== undefined) {
    await pause(seconds * 1_000);
    watch.say(ending.ends);
    await ending.end();
  }
  await set.settled();
  const to = performance.now();
  watch.say('the replica set has recovered');
  await pause(CALM_MS);
  return { name: fault.name, from, to };
}

/** Resolves with the ids in a collection that a majority of the set has. */
async function idsIn(uri: string, collection: string): Promise<Set<number>> {
  const client = new MongoClient(uri, { writeConcern: { w: 'majority' } });
  const database = client.db('plant-store');
  const ids = await client.withSession(async (session) => {
    // The read sees this document, which a majority has, and so everything that was stored before it.
    await database.collection('last').insertOne({}, { session });
    const plants = database.collection<{ _id: number }>(collection);
    return plants.distinct('_id', {}, { session, readConcern: { level: 'majority' } });
  });
  await client.close();
  return new Set(ids);
}
