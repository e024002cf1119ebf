import { isIP } from 'node:net';
import type { MongoClient } from 'mongodb';
import { withoutText } from './server-code.js';

const USER_INFO = /^mongodb(?:\+srv)?:\/\/[^/?]*@/;

/** The default ports of MongoDB, which are no password. */
const DEFAULT_PORTS: ReadonlySet<number | undefined> = new Set([27017, 27018, 27019]);

interface Address {
  readonly host: string;
  readonly port: number | undefined;
}

function addressesOf({ options }: MongoClient): Address[] {
  if (options.srvHost !== undefined) return [{ host: options.srvHost, port: undefined }];
  return options.hosts.map((address) => {
    const { host, port } = address.toHostPort();
    return { host, port };
  });
}

function isDoubtful({ host, port }: Address): boolean {
  return !DEFAULT_PORTS.has(port) && host !== 'localhost' && isIP(host) === 0;
}

function written({ host, port }: Address): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

/**
 * What of a connection string and of errors may be shown in logs.
 *
 * Without an `@`, what looks like a name and a port may be a user and a password of digits. Such a
 * port is left out, unless it is one of MongoDB's own.
 */
export class Disclosure {
  /** Where the client looks for servers: `host:port`, or the name of a cluster. */
  readonly hosts: readonly string[];
  readonly #hidden: ReadonlySet<number | undefined>;

  constructor(uri: string, client: MongoClient) {
    const addresses = addressesOf(client);
    const doubtful = USER_INFO.test(uri) ? [] : addresses.filter(isDoubtful);
    this.#hidden = new Set(doubtful.map(({ port }) => port));
    this.hosts = addresses.map((it) => (doubtful.includes(it) ? it.host : written(it)));
  }

  /** The error without a server's text about a command, and without such a port. */
  error(error: Error): Error {
    return this.withoutPorts(withoutText(error));
  }

  withoutPorts(error: Error): Error {
    if (this.#hidden.size === 0) return error;
    const code = 'code' in error ? { code: error.code } : {};
    const options = error.cause instanceof Error ? { cause: this.withoutPorts(error.cause) } : {};
    const message = [...this.#hidden].reduce<string>(
      (text, port) => text.replaceAll(`:${port}`, ''),
      error.message,
    );
    return Object.assign(new Error(message, options), code);
  }
}
