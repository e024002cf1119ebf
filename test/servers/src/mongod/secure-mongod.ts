import { setTimeout as pause } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { certificates } from '../certificates/index.js';
import { MongodServer } from './mongod-server.js';

const SET = 'plants';
const POLL_INTERVAL_MS = 50;
const ADMINISTRATOR = 'administrator';
/** Must be percent-encoded in a connection string. */
const PASSWORD = 'a pass/word';

/** The permissions of a user on Atlas, as docs/mongodb.md says. */
const AS_ON_ATLAS = [{ role: 'readWrite', db: 'plant-store' }];

/** The subject of the client certificate, as MongoDB writes it. */
const CLIENT = 'CN=plant-store,O=Gardens';

type Run = (command: Document) => Promise<Document>;

export interface SecureMongodOptions {
  /** Refuses clients without a certificate. */
  readonly certificatesRequired?: boolean;
  /** Accepts clients even without TLS. */
  readonly tlsOptional?: boolean;
}

/**
 * A replica set of one node on loopback with TLS and authentication.
 *
 * Two users have the permissions of a user on Atlas: `plant-store`, with a password, and the subject of the client
 * certificate. A third one, `guest`, has the same password and no permissions.
 */
export class SecureMongod {
  readonly #server: MongodServer;

  private constructor(server: MongodServer) {
    this.#server = server;
  }

  static async start(options: SecureMongodOptions = {}) {
    const { certificatesRequired = false, tlsOptional = false } = options;
    const lax = certificatesRequired ? [] : ['--tlsAllowConnectionsWithoutCertificates'];
    const mode = ['--tlsMode', tlsOptional ? 'preferTLS' : 'requireTLS', '--replSet', SET];
    const files = ['--tlsCertificateKeyFile', certificates.server, '--tlsCAFile', certificates.ca];
    const args = [...mode, ...files, ...lax];
    const keyFile = 'x'.repeat(32);
    const secure = new SecureMongod(await MongodServer.start({ args, keyFile }));
    await secure.#initiate();
    return secure;
  }

  get port(): number {
    return this.#server.port;
  }

  get host(): string {
    return this.#server.host;
  }

  get password(): string {
    return PASSWORD;
  }

  /** The options of a connection string for TLS. */
  get tls(): string {
    return `tls=true&tlsCAFile=${encodeURIComponent(certificates.ca)}`;
  }

  /** The options of a connection string that authenticate the client with its certificate. */
  get x509(): string {
    const file = encodeURIComponent(certificates.client);
    return `${this.tls}&tlsCertificateKeyFile=${file}&authMechanism=MONGODB-X509`;
  }

  /** A connection string with every permission. */
  get administratorUri(): string {
    return this.#uri(`${ADMINISTRATOR}:${encodeURIComponent(PASSWORD)}@`);
  }

  /** Kills the server immediately, as a crash would, and starts it again. Resolves when it listens. */
  async crash(): Promise<void> {
    await this.#server.kill();
    await this.#server.restart();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  #uri(credentials: string, topology = `replicaSet=${SET}`): string {
    const file = encodeURIComponent(certificates.client);
    const options = `${this.tls}&tlsCertificateKeyFile=${file}&${topology}`;
    return `mongodb://${credentials}${this.host}/?${options}`;
  }

  /** MongoDB's localhost exception: until there is a user, the server accepts local clients. */
  async #initiate(): Promise<void> {
    const members = [{ _id: 0, host: this.host }];
    await this.#run(this.#uri('', 'directConnection=true'), async (admin) => {
      await admin({ replSetInitiate: { _id: SET, members } });
      while (!(await admin({ hello: 1 })).isWritablePrimary) await pause(POLL_INTERVAL_MS);
      await admin({ createUser: ADMINISTRATOR, pwd: PASSWORD, roles: ['root'] });
    });
    await this.#run(this.administratorUri, async (admin, external) => {
      await admin({ createUser: 'plant-store', pwd: PASSWORD, roles: AS_ON_ATLAS });
      await admin({ createUser: 'guest', pwd: PASSWORD, roles: [] });
      await external({ createUser: CLIENT, roles: AS_ON_ATLAS });
    });
  }

  async #run(uri: string, work: (admin: Run, external: Run) => Promise<void>): Promise<void> {
    const client = new MongoClient(uri);
    const on = (name: string) => (command: Document) => client.db(name).command(command);
    await work(on('admin'), on('$external')).finally(() => client.close());
  }
}
