import { randomUUID } from 'node:crypto';
import { needsMongod } from './find-mongod.js';
import { ReplicaSet } from './replica-set.js';

let starting: Promise<ReplicaSet> | undefined;

/**
 * Resolves with a replica set of one node that all tests of this process share; tests that kill or freeze a
 * server must not use it. The first call starts it, and it ends with the process.
 */
export function sharedReplicaSet(): Promise<ReplicaSet> {
  starting ??= ReplicaSet.start({ members: 1 });
  return starting;
}

/** Resolves with the URI of a new database of {@link sharedReplicaSet}, after {@link needsMongod}. */
export async function newDatabase(context: ThisParameterType<typeof needsMongod>): Promise<string> {
  await needsMongod.call(context);
  return (await sharedReplicaSet()).uri.replace('/?', `/${randomUUID()}?`);
}
