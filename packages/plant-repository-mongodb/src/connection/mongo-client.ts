import { MongoClient } from 'mongodb';
import type { ConnectionOptions } from './connection-problem.js';
import { tlsFileProblem } from './tls-files.js';

/** Why there is no client for a connection string. Holds no part of its credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
}

/** Connections to one server. */
export const MAX_POOL_SIZE = 16;

const OPTIONS = {
  // Command monitoring shows what was sent. This package itself repeats inserts.
  monitorCommands: true,
  retryWrites: false,
  retryReads: false,
  // Waiting for a server or a connection is ended by abort signals alone: no timers for each command.
  serverSelectionTimeoutMS: 0,
  waitQueueTimeoutMS: 0,
  // How soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  // At most four inserts, four read-backs and two checks; a few more replace connections given up.
  maxPoolSize: MAX_POOL_SIZE,
} as const;

const DATABASE = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/;
const DATABASE_NAME = /^[^/\\. "$\0]{1,63}$/;
/** The scheme, the hosts, and the database with the options. */
const PARTS = /^(mongodb(?:\+srv)?:\/\/)(?:.*@)?([^/?]*)(.*)$/s;

const HOSTS =
  'the form is mongodb://user:password@host:port,host:port/database or ' +
  'mongodb+srv://user:password@host/database, with the user and the password percent-encoded';

/**
 * What the driver does not like. It quotes hosts, and where the `@` is missing they are credentials:
 * so it gets other hosts to complain about, and what is wrong with the true ones has one text.
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

/** A client for the connection string, not yet connected. @throws {InvalidMongoUriError} */
export function createMongoClient(uri: string): MongoClient {
  const client = parsed(uri);
  const problem = databaseProblem(uri) ?? poolProblem(client) ?? tlsFileProblem(client.options);
  if (problem !== undefined) throw new InvalidMongoUriError(problem);
  return client;
}

function parsed(uri: string): MongoClient {
  try {
    return new MongoClient(uri, OPTIONS);
  } catch {
    throw new InvalidMongoUriError(messageWithoutCredentials(uri));
  }
}

/** Only the server would refuse the name, and every insert with it. */
function databaseProblem(uri: string): string | undefined {
  const invalid = !DATABASE_NAME.test(databaseOf(uri) ?? 'none');
  return invalid
    ? 'the name of the database must have 1 to 63 characters, none of /\\. "$'
    : undefined;
}

/** The driver would complain at each attempt to connect. */
function poolProblem({ options }: MongoClient): string | undefined {
  const fits = (options.minPoolSize ?? 0) <= MAX_POOL_SIZE;
  return fits ? undefined : `minPoolSize must not be above ${MAX_POOL_SIZE}`;
}

/** What an explanation of a failed connection depends on. */
export function connectionOptionsOf({ options }: MongoClient): ConnectionOptions {
  const { tls, replicaSet, credentials, tlsCertificateKeyFile } = options;
  const x509 = credentials?.mechanism === 'MONGODB-X509';
  return { tls, replicaSet, x509, clientCertificate: tlsCertificateKeyFile !== undefined };
}

/** The database that the connection string names, if any. */
export function databaseOf(uri: string): string | undefined {
  const name = DATABASE.exec(uri)?.[1];
  return name === undefined ? undefined : decodeURIComponent(name);
}

/** Why a connection string cannot be used; `undefined` when it can. Opens nothing. */
export function mongoUriProblem(uri: string): string | undefined {
  try {
    createMongoClient(uri);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidMongoUriError) return error.message;
    throw error;
  }
}
