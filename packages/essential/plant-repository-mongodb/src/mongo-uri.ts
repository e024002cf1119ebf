import { MongoClient } from 'mongodb';

const FORMAT =
  'it must have the format mongodb://user:password@host:port,host:port/database or ' +
  'mongodb+srv://user:password@host/database, with percent-encoded user and password';

/**
 * The server refuses other names, except those with an `@`: these are the rest of a password. It keeps its own data in the three
 * databases; `local` is not replicated.
 */
const DATABASE = /^(?!(?:admin|config|local)$)[^/\\. "$@\0]{1,63}$/;
const DATABASE_RULE =
  'the database must not be admin, config or local, and its name must have 1 to 63 characters, none of /\\. "$@ (authSource names the database of the user)';

const TLS_FILES = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** The connection string is invalid. The message gives the reason and contains no credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
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
    return DATABASE.test(databaseIn(uri, client)) ? unsafeOption(client) : DATABASE_RULE;
  } catch (error) {
    // Without a name, or with an `@`, these are not options but the rest of a password.
    const isOptions = /^\w+=[^@]*$/.test(query);
    return isOptions && error instanceof Error ? error.message : FORMAT;
  }
}

/** Returns the database that a connection string names. The driver calls it `test` if there is no name. */
export function databaseIn(uri: string, { options: { dbName } }: MongoClient): string {
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
