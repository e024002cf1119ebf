import { MongoClient } from 'mongodb';
import type { ConnectionOptions } from './connection-problem.js';
import { tlsFileProblem } from './tls-files.js';

/** Why there is no client for a connection string. Holds no part of its credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
}

const OPTIONS = {
  // Command monitoring tells what was sent. A repeated insert is this package's own business.
  monitorCommands: true,
  retryWrites: false,
  retryReads: false,
  // Waiting for a server or a connection is ended by abort signals alone: no timers for each command.
  serverSelectionTimeoutMS: 0,
  waitQueueTimeoutMS: 0,
  // How soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  // Four inserts, four read-backs and two checks at the most; a few more replace connections given up.
  maxPoolSize: 16,
} as const;

const DATABASE = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/;
const DATABASE_NAME = /^[^/\\. "$\0]{1,63}$/;
const CREDENTIALS = /^(\w[\w+]*:\/\/)?.*@/s;

function messageWithoutCredentials(uri: string): string {
  try {
    // The driver puts the whole string into some messages, so it gets another one to complain about.
    new MongoClient(uri.replace(CREDENTIALS, '$1user:password@'), OPTIONS);
  } catch (error) {
    return error instanceof Error ? error.message : 'it is not a connection string';
  }
  return 'user name and password must be percent-encoded';
}

/** A client for the connection string, not yet connected. @throws {InvalidMongoUriError} */
export function createMongoClient(uri: string): MongoClient {
  const client = parsed(uri);
  const problem = databaseProblem(uri) ?? tlsFileProblem(client.options);
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
  const faulty = !DATABASE_NAME.test(databaseOf(uri) ?? 'none');
  return faulty ? 'the name of a database has 1 to 63 characters, none of /\\. "$' : undefined;
}

/** What an explanation of a failed connection depends on. */
export function connectionOptionsOf({ options }: MongoClient): ConnectionOptions {
  const { tls, replicaSet, credentials, tlsCertificateKeyFile } = options;
  const x509 = credentials?.mechanism === 'MONGODB-X509';
  return { tls, replicaSet, x509, clientCertificate: tlsCertificateKeyFile !== undefined };
}

/** Where the client looks for servers: `host:port`, or the name that stands for a cluster. */
export function hostsOf({ options }: MongoClient): string[] {
  return options.srvHost === undefined ? options.hosts.map(String) : [options.srvHost];
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
