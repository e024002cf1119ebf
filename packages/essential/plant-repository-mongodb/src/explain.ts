import type { MongoOptions, ServerDescription, TopologyDescription } from 'mongodb';
import { MongoStoreError, SILENT } from './mongo-store-error.js';

/** The driver's view of the servers. */
export type Topology = Pick<TopologyDescription, 'type' | 'servers'>;

/**
 * Explains an error to operators: if no known server accepts writes, that is the reason, but it proves nothing about an insert.
 *
 * @param topology What the driver knows: nothing until it has found the SRV record, if there is one.
 * @param options Of the driver's client.
 */
export function explain(
  error: unknown,
  topology: Topology | undefined,
  options: Pick<MongoOptions, 'hosts' | 'srvHost'>,
): MongoStoreError {
  const explained = MongoStoreError.of(error);
  if (explained.needsAdministrator) return explained;
  if (topology) return whyNotWritable(topology, options.hosts.map(String)) ?? explained;
  const isLate = explained.finding === 'no response' || explained.finding === 'slow';
  if (!isLate) return explained;
  return options.srvHost === undefined
    ? new MongoStoreError('no response')
    : new MongoStoreError('unreachable', 'the SRV record was not resolved in time');
}

/** Returns why none of the known servers accepts writes; `undefined` if one does. */
function whyNotWritable(
  { type, servers }: Topology,
  named: readonly string[],
): MongoStoreError | undefined {
  const known = [...servers.values()];
  if (known.some(({ isWritable }) => isWritable)) return undefined;
  const errors = known.flatMap(({ error }) => (error ? MongoStoreError.of(error) : []));
  const why = [...new Set(errors.map(({ message }) => message))].join('; ');
  if (known.length === 0) {
    // The driver forgets hosts that report another replica set, or none.
    const message = 'no host belongs to the replica set that replicaSet names';
    return new MongoStoreError('unreachable', message);
  }
  if (known.every((it) => it.type === 'Unknown')) {
    const isSilent = errors.every(({ finding }) => finding === 'no response');
    const message = (why || SILENT) + tunnelAdvice([...servers.keys()], named);
    return new MongoStoreError(isSilent ? 'no response' : 'unreachable', message);
  }
  return new MongoStoreError('unknown', whyNoPrimary(type, known, why));
}

function whyNoPrimary(
  type: Topology['type'],
  known: readonly ServerDescription[],
  why: string,
): string {
  if (known.some((it) => it.type === 'RSGhost')) {
    return 'the replica set is not initiated: run rs.initiate()';
  }
  if (type === 'Single') return 'the server is not a primary and does not accept writes';
  return `the replica set has no primary${why && `: ${why}`}`;
}

/** The driver connects to the members of a replica set by the names that these have for each other. */
function tunnelAdvice(members: readonly string[], named: readonly string[]): string {
  if (members.some((it) => named.includes(it))) return '';
  return `. The members of the replica set are ${members.join(', ')}: if they cannot be reached by these names, as through a tunnel or kubectl port-forward, add directConnection=true`;
}
