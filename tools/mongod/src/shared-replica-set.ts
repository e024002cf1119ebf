import { ReplicaSet } from './replica-set.js';

let starting: Promise<ReplicaSet> | undefined;

/**
 * A replica set of one node for every test of this process that does not harm its server. It is
 * started by the first call and ends with the process.
 */
export function sharedReplicaSet(): Promise<ReplicaSet> {
  starting ??= ReplicaSet.start({ members: 1 });
  return starting;
}
