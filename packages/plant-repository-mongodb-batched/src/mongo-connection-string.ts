import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { MongoClient } from 'mongodb';
import { codeOf } from './mongo-error.js';
import { sharedLookup } from './shared-lookup.js';

/** The connection string is invalid. The message gives the reason and contains no credentials. */
export class InvalidMongoUriError extends Error {
  override readonly name = 'InvalidMongoUriError';
  readonly code = 'INVALID_MONGO_URI';
}

/** For the inserts of the three limits, two pages and two checks. */
const MAX_POOL_SIZE = 104;

const OPTIONS = {
  // The driver must not retry, because this package does.
  retryWrites: false,
  retryReads: false,
  readPreference: 'primary',
  // Ends the wait for a server. An abort signal for each insert would take 35 µs of CPU time.
  serverSelectionTimeoutMS: 2_000,
  // Ends a log-in on a connection that was lost meanwhile: the driver opens two connections at once, and no further one
  // until then. It ends an insert too, so it is longer than most callers wait for a majority that lags.
  socketTimeoutMS: 20_000,
  // These decide how soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  maxPoolSize: MAX_POOL_SIZE,
} as const;

/** What the adapter asks for in every command, by the names of the connection string. */
const FIXED: Readonly<Record<string, unknown>> = {
  ...OPTIONS,
  w: 'majority',
  journal: true,
  j: true,
  fsync: true,
  readConcernLevel: 'majority',
  wtimeoutMS: undefined,
  wtimeout: undefined,
  timeoutMS: undefined,
  maxStalenessSeconds: undefined,
  readPreferenceTags: undefined,
};

/** The strings of hosting platforms ask for these retries, which this package does itself. */
const RETRIES = ['retryWrites', 'retryReads'];

/** Captures the scheme, the hosts, and the database with the options. */
const PARTS = /^(mongodb(?:\+srv)?:\/\/)(?:.*@)?([^/?]*)(.*)$/s;

const HOSTS =
  'it must have the form mongodb://user:password@host:port,host:port/database or ' +
  'mongodb+srv://user:password@host/database, with percent-encoded user and password';

const VALID_DATABASE = /^(?!(?:admin|config|local)$)[^/\\. "$\0]{1,63}$/;

/** The options that name a file for TLS, what the file must contain, and a function that throws if it does not. */
const TLS_FILES = [
  // As text, because the driver does not read DER.
  ['tlsCAFile', 'a certificate', (pem: Buffer) => new X509Certificate(`${pem}`)],
  [
    'tlsCertificateKeyFile',
    'a certificate and its private key; if the key is encrypted, set tlsCertificateKeyFilePassword',
    (pem: Buffer, passphrase = '') => createSecureContext({ cert: pem, key: pem, passphrase }),
  ],
  ['tlsCRLFile', 'a revocation list', (pem: Buffer) => createSecureContext({ crl: pem })],
] as const;

/** Returns a client for the connection string, not yet connected. @throws {InvalidMongoUriError} */
export function createMongoClient(uri: string): MongoClient {
  const problem = mongoUriProblem(uri);
  if (problem !== undefined) throw new InvalidMongoUriError(problem);
  return new MongoClient(uri, { ...OPTIONS, lookup: sharedLookup() });
}

/** Returns why a connection string is invalid, without credentials; `undefined` when it is valid. Reads its TLS files. */
export function mongoUriProblem(uri: string): string | undefined {
  try {
    const client = new MongoClient(uri, OPTIONS);
    const { options } = client;
    // Part of a password with an `@` and a slash, which must be percent-encoded.
    if (urlOf(uri).pathname.includes('@')) return HOSTS;
    const database = databaseOf(uri, client);
    return databaseProblem(database) ?? poolProblem(options) ?? tlsProblem(options);
  } catch {
    return parsingProblem(uri);
  }
}

/**
 * Returns the driver's message about a connection string. The original message quotes hosts, which are really
 * credentials if the `@` is missing. So the driver checks the string with other hosts, and one text covers every problem
 * of the real ones.
 */
function parsingProblem(uri: string): string {
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

/** The driver accepts almost any name, but the server would refuse every insert. */
function databaseProblem(name: string): string | undefined {
  if (VALID_DATABASE.test(name)) return undefined;
  return `the database ${name} cannot have plants: name one other than admin, config and local, with 1 to 63 characters and none of /\\. "$ (authSource names the database of the user)`;
}

/** The driver would report this only when it connects. */
function poolProblem({ minPoolSize = 0 }: MongoClient['options']): string | undefined {
  const fits = minPoolSize <= MAX_POOL_SIZE;
  return fits ? undefined : `minPoolSize must be at most ${MAX_POOL_SIZE}, got ${minPoolSize}`;
}

/**
 * The driver would ignore files without TLS, report an unreadable one as an outage, and ignore a `tlsCAFile` that
 * contains no certificate.
 */
function tlsProblem(options: MongoClient['options']): string | undefined {
  for (const [option, content, check] of TLS_FILES) {
    const path = options[option];
    if (path === undefined) continue;
    if (!options.tls) return `${option} needs tls=true: without it, nothing is encrypted`;
    try {
      check(readFileSync(path), options.passphrase);
    } catch (error) {
      return `${option} must name a PEM file with ${content} (${codeOf(error) ?? 'invalid'})`;
    }
  }
  return undefined;
}

/** Returns the database that the connection string names, as the driver reads it; `plant-store` when it names none. */
export function databaseOf(uri: string, { options }: MongoClient): string {
  const { pathname, search } = urlOf(uri);
  const isNamed = pathname.length > 1 || /[?&]dbName=/i.test(search);
  return isNamed ? options.dbName : 'plant-store';
}

/** Returns a valid connection string as a URL with a single host: the driver parses it in the same way. */
function urlOf(uri: string): URL {
  return new URL(uri.replace(/:\/\/[^/?]*/, '://host'));
}

/** Returns a sentence for each option of a valid connection string that has no effect. */
export function optionsWithoutEffect(uri: string): string[] {
  const given = [...urlOf(uri).searchParams];
  return Object.entries(FIXED).flatMap(([name, value]) => {
    const isOther = ([key, text]: [string, string]) =>
      key.toLowerCase() === name.toLowerCase() && text !== `${value}`;
    if (RETRIES.includes(name) || !given.some(isOther)) return [];
    const always = value === undefined ? '' : `: the service always uses ${name}=${value}`;
    return `the option ${name} of the connection string has no effect${always}. Remove it`;
  });
}

/** Returns a sentence about an expired client certificate: most servers only close the connection. */
export function expiredCertificate({ options }: MongoClient): string | undefined {
  const { tlsCertificateKeyFile: path } = options;
  if (path === undefined) return undefined;
  const end = new Date(new X509Certificate(readFileSync(path)).validTo);
  if (end.getTime() > Date.now()) return undefined;
  return `the client certificate of the connection string (tlsCertificateKeyFile) expired at ${end.toISOString()}. Renew it`;
}

const USER_INFO = /^mongodb(?:\+srv)?:\/\/[^/?]*@/;

/** Without an `@`, this may be a user and a password, unless it has an IP address or a default port of MongoDB. */
const DOUBTFUL = /^(?!localhost:|[\d.]+:|\[)[^:]+(?!:2701[789]$):\d+$/;

/** Returns the hosts that logs show, or the name of a cluster, without ports that may be passwords: {@link DOUBTFUL}. */
export function shownHosts(uri: string, { options }: MongoClient): string {
  const hosts = options.srvHost === undefined ? options.hosts.map(String) : [options.srvHost];
  const hides = (host: string) => !USER_INFO.test(uri) && DOUBTFUL.test(host);
  return hosts.map((host) => (hides(host) ? host.replace(/:.*/, '') : host)).join(', ');
}
