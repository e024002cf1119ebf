import { isIP } from 'node:net';
import type { MongoClient } from 'mongodb';
import { withoutServerText } from './server-code.js';

const USER_INFO = /^mongodb(?:\+srv)?:\/\/[^/?]*@/;

/** The default ports of MongoDB, which are not passwords. */
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
 * Removes from the hosts and from errors what must not be shown in logs.
 *
 * In a connection string without an `@`, what looks like a host and a port may be a user and a password of
 * digits. Such a port is removed, unless it is a default port of MongoDB.
 */
export class Disclosure {
  /** The hosts of the connection string: `host:port`, or the name of a cluster. */
  readonly hosts: readonly string[];
  readonly #hidden: ReadonlySet<number | undefined>;

  constructor(uri: string, client: MongoClient) {
    const addresses = addressesOf(client);
    const doubtful = USER_INFO.test(uri) ? [] : addresses.filter(isDoubtful);
    this.#hidden = new Set(doubtful.map(({ port }) => port));
    this.hosts = addresses.map((it) => (doubtful.includes(it) ? it.host : written(it)));
  }

  /** Returns the error without the server's text about a command, and without ports that may be passwords. */
  error(error: Error): Error {
    return this.withoutPorts(withoutServerText(error));
  }

  /** Returns the error without ports that may be passwords. */
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
