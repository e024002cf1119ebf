import { type Db, MongoClient } from 'mongodb';

/** Sent with every insert, so that no server default can weaken it. */
export const DURABLE = { w: 'majority', j: true };

const OPTIONS = {
  // The driver would retry once; the repositories retry until the caller's time is over.
  retryWrites: false,
  retryReads: false,
  readPreference: 'primary',
  // These decide how soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: 1_500,
  // Ends a login on a connection that was lost meanwhile. It ends an insert too, so it is longer than most callers wait.
  socketTimeoutMS: 20_000,
} as const;

const FORMAT =
  'it must have the format mongodb://user:password@host:port,host:port/database or ' +
  'mongodb+srv://user:password@host/database, with percent-encoded user and password';

/** The server would refuse other names. The three databases are its own; `local` is not replicated. */
const DATABASE = /^(?!(?:admin|config|local)$)[^/\\. "$@\0]{1,63}$/;
const DATABASE_RULE =
  'the database must not be admin, config or local, and its name must have 1 to 63 characters, none of /\\. "$@ (authSource names the database of the user)';

const TLS_FILES = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** The connection string is invalid. The message gives the reason and contains no credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
}

/**
 * Returns the database that a connection string names, `plant-store` if it names none. The client connects later.
 *
 * @throws {InvalidMongoUriError}
 */
export function openDatabase(uri: string, maxPoolSize: number): Db {
  const problem = mongoUriProblem(uri);
  if (problem !== undefined) throw new InvalidMongoUriError(problem);
  const client = new MongoClient(uri, { ...OPTIONS, maxPoolSize });
  return client.db(nameIn(uri, client));
}

/** Returns why a connection string is invalid, without credentials; `undefined` when it is valid. */
export function mongoUriProblem(uri: string): string | undefined {
  const [, address = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(uri) ?? [];
  try {
    new MongoClient(address);
  } catch {
    // The driver may quote the user or the password.
    return FORMAT;
  }
  try {
    const client = new MongoClient(uri);
    return DATABASE.test(nameIn(uri, client)) ? unsafeOption(client) : DATABASE_RULE;
  } catch (error) {
    // Without a name, or with an `@`, these are not options but the rest of a password.
    const isOptions = /^\w+=[^@]*$/.test(query);
    return isOptions && error instanceof Error ? error.message : FORMAT;
  }
}

/** The driver calls a database `test` if the connection string does not name one. */
function nameIn(uri: string, { options: { dbName } }: MongoClient): string {
  const isUnnamed = /^[^/]*\/\/[^/?]*\/?(?:\?|$)/.test(uri);
  return isUnnamed && dbName === 'test' ? 'plant-store' : dbName;
}

function unsafeOption({ options }: MongoClient): string | undefined {
  const { w = 'majority', journal = true } = options.writeConcern ?? {};
  if (w !== 'majority' || !journal) {
    return 'every insert waits for a majority and its journal: remove w, journal and fsync';
  }
  const file = TLS_FILES.find((name) => options[name] !== undefined);
  return file && !options.tls
    ? `${file} needs tls=true: without it, nothing is encrypted`
    : undefined;
}

/** Returns the hosts of a client, as its connection string or its SRV record names them. */
export function hostsOf({ options: { srvHost, hosts } }: MongoClient): string {
  return srvHost ?? hosts.join(', ');
}
