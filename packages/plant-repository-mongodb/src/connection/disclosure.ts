import type { MongoClient } from 'mongodb';
import { isReply, ServerReplyError } from './server-code.js';

const USER_INFO = /^mongodb(?:\+srv)?:\/\/[^/?]*@/;

/** A host and a port that may be a user and a password: not an IP address, nor a default port of MongoDB. */
const DOUBTFUL = /^(?!localhost:|[\d.]+:|\[)[^:]+(?!:2701[789]$):\d+$/;

/**
 * Removes from the hosts and from errors what must not be shown in logs.
 *
 * In a connection string without an `@`, what looks like a host and a port may be a user and a password of digits.
 * Such a port is removed.
 */
export class Disclosure {
  /** The hosts of the connection string: `host:port`, or the name of a cluster. */
  readonly hosts: readonly string[];
  /** Each with its colon. */
  readonly #hiddenPorts: readonly string[];

  constructor(uri: string, { options }: MongoClient) {
    const hosts = options.srvHost === undefined ? options.hosts.map(String) : [options.srvHost];
    const doubtful = USER_INFO.test(uri) ? [] : hosts.filter((host) => DOUBTFUL.test(host));
    this.#hiddenPorts = doubtful.map((host) => host.slice(host.indexOf(':')));
    this.hosts = hosts.map((host) => this.#shown(host));
  }

  /** Returns the error without the server's text about a command, and without ports that may be passwords. */
  error(error: Error): Error {
    if (!isReply(error)) return this.withoutPorts(error);
    const { code, codeName } = error;
    return new ServerReplyError(typeof code === 'number' ? code : undefined, codeName);
  }

  /** Returns the error without ports that may be passwords. */
  withoutPorts(error: Error): Error {
    if (this.#hiddenPorts.length === 0) return error;
    const code = 'code' in error ? { code: error.code } : {};
    const options = error.cause instanceof Error ? { cause: this.withoutPorts(error.cause) } : {};
    return Object.assign(new Error(this.#shown(error.message), options), code);
  }

  #shown(text: string): string {
    return this.#hiddenPorts.reduce((shown, port) => shown.replaceAll(port, ''), text);
  }
}
