import { MongoClient } from 'mongodb';
import { sharedLookup } from './shared-lookup.js';
import { tlsFileProblem } from './tls-files.js';

/** The connection string is invalid. The message says why, without credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
}

/** The most inserts in flight. */
export const MAX_INSERTS = { ordinary: 20, again: 20, stragglers: 60 };

/** For the inserts, two pages and two checks. */
const MAX_POOL_SIZE = 104;

const OPTIONS = {
  // The driver must not retry, because this package does.
  retryWrites: false,
  retryReads: false,
  readPreference: 'primary',
  // Ends the wait for a server. An abort signal for each insert would take 35 µs of CPU time.
  serverSelectionTimeoutMS: 2_000,
  // Ends a log-in on a connection that was lost meanwhile: the driver opens two connections at once, and no further one
  // until then. It also ends an insert, so it is longer than most callers wait for a majority that lags.
  socketTimeoutMS: 20_000,
  // These decide how soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  maxPoolSize: MAX_POOL_SIZE,
} as const;

const DATABASE = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/;
const DATABASE_NAME = /^[^/\\. "$\0]{1,63}$/;
const INTERNAL_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);
/** Captures the scheme, the hosts, and the database with the options. */
const PARTS = /^(mongodb(?:\+srv)?:\/\/)(?:.*@)?([^/?]*)(.*)$/s;

const HOSTS =
  'the form is mongodb://user:password@host:port,host:port/database or ' +
  'mongodb+srv://user:password@host/database, with the user and the password percent-encoded';

/**
 * The driver's message about a connection string. It quotes hosts, which are credentials when the `@` is missing.
 * So the driver checks the string with other hosts, and there is one text for a problem of the real ones.
 */
function messageWithoutCredentials(uri: string): string {
  const [, scheme, hosts = '', rest] = PARTS.exec(uri) ?? [];
  const others = hosts.split(',').fill('host.example.com');
  if (scheme === undefined) return 'it must begin with "mongodb://" or "mongodb+srv://"';
  try {
    new MongoClient(`${scheme}user:password@${others}${rest}`, OPTIONS);
  } catch (error) {
    return error instanceof Error ? error.message : 'it is not a connection string';
  }
  return HOSTS;
}

/** Returns a client for the connection string, not yet connected. @throws {InvalidMongoUriError} */
export function createMongoClient(uri: string): MongoClient {
  const client = parsed(uri);
  const problem = databaseProblem(uri) ?? poolProblem(client) ?? tlsFileProblem(client.options);
  if (problem !== undefined) throw new InvalidMongoUriError(problem);
  return client;
}

function parsed(uri: string): MongoClient {
  try {
    return new MongoClient(uri, { ...OPTIONS, lookup: sharedLookup() });
  } catch {
    throw new InvalidMongoUriError(messageWithoutCredentials(uri));
  }
}

/** The driver accepts an invalid name, but the server would refuse every insert. */
function databaseProblem(uri: string): string | undefined {
  const name = databaseOf(uri) ?? 'none';
  if (!DATABASE_NAME.test(name)) {
    return 'the name of the database must have 1 to 63 characters, none of /\\. "$';
  }
  return INTERNAL_DATABASES.has(name)
    ? `the database ${name} is reserved by MongoDB: name another one (authSource names that of the user)`
    : undefined;
}

/** The driver would report this only when it connects. */
function poolProblem({ options }: MongoClient): string | undefined {
  const fits = (options.minPoolSize ?? 0) <= MAX_POOL_SIZE;
  return fits ? undefined : `minPoolSize must not be above ${MAX_POOL_SIZE}`;
}

/** Returns the database that the connection string names; `undefined` when it names none. */
export function databaseOf(uri: string): string | undefined {
  const name = DATABASE.exec(uri)?.[1];
  return name === undefined ? undefined : decodeURIComponent(name);
}

const USER_INFO = /^mongodb(?:\+srv)?:\/\/[^/?]*@/;

/** A host and a port that may be a user and a password: not an IP address, nor a default port of MongoDB. */
const DOUBTFUL = /^(?!localhost:|[\d.]+:|\[)[^:]+(?!:2701[789]$):\d+$/;

/**
 * Returns the hosts of a connection string for logs: `host:port`, or the name of a cluster. Without an `@`, what looks
 * like a host and a port may be a user and a password of digits. Such a port is left out.
 */
export function shownHosts(uri: string, { options }: MongoClient): string {
  const hosts = options.srvHost === undefined ? options.hosts.map(String) : [options.srvHost];
  const hides = (host: string) => !USER_INFO.test(uri) && DOUBTFUL.test(host);
  return hosts.map((host) => (hides(host) ? host.replace(/:.*/, '') : host)).join(', ');
}

/** Returns why a connection string is invalid; `undefined` when it is valid. Opens nothing. */
export function mongoUriProblem(uri: string): string | undefined {
  try {
    createMongoClient(uri);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidMongoUriError) return error.message;
    throw error;
  }
}
