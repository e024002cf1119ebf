import { setTimeout as pause } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { MongodServer } from './mongod-server.js';

export interface ReplicaSetOptions {
  /** The second of two is never primary, so that {@link ReplicaSet.delaySecondary} can delay it. */
  readonly members: 1 | 2 | 3;
  /** Milliseconds without a primary until the others elect one. 2,000 by default; MongoDB's default is 10,000. */
  readonly electionTimeoutMs?: number;
  /** As for one server, for each member. */
  readonly cacheGiB?: number;
}

const NAME = 'plants';
const POLL_INTERVAL_MS = 50;
const PRIMARY_WITHIN = 60_000;

async function succeeds(command: Promise<unknown>): Promise<boolean> {
  return command.then(
    () => true,
    () => false,
  );
}

/** A replica set on loopback. */
export class ReplicaSet {
  readonly members: readonly MongodServer[];

  private constructor(members: readonly MongodServer[]) {
    this.members = members;
  }

  /** Resolves when the set has a primary and every member follows it. */
  static async start({ members, electionTimeoutMs = 2_000, ...options }: ReplicaSetOptions) {
    const args = ['--replSet', NAME, '--setParameter', 'transactionLifetimeLimitSeconds=5'];
    const servers = await Promise.all(
      Array.from({ length: members }, () => MongodServer.start({ args, ...options })),
    );
    const set = new ReplicaSet(servers);
    await set.#initiate(electionTimeoutMs);
    return set;
  }

  get uri(): string {
    return `mongodb://${this.members.map(({ host }) => host).join(',')}/?replicaSet=${NAME}`;
  }

  /** Resolves with the primary, as soon as there is one. */
  async primary(): Promise<MongodServer> {
    const { me } = await this.#onPrimary((run) => run({ hello: 1 }));
    const primary = this.members.find(({ host }) => host === me);
    if (primary === undefined) throw new Error(`the primary ${me} is not a member`);
    return primary;
  }

  /** Makes the primary hand over to another member, as soon as one has caught up. */
  async stepDown(): Promise<void> {
    const stepDown = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 2 };
    await this.#onPrimary(async (run) => {
      while (!(await succeeds(run(stepDown)))) await pause(POLL_INTERVAL_MS);
    });
  }

  /** Changes the election timeout of the running set. */
  async electWithin(electionTimeoutMillis: number): Promise<void> {
    await this.#configure(({ settings }) => ({ settings: { ...settings, electionTimeoutMillis } }));
  }

  /** The second of two members applies each write this much later from now on, and so acknowledges it. */
  async delaySecondary(seconds: number): Promise<void> {
    await this.#configure(({ members: [first, second] }) => {
      // The name of the option until MongoDB 4.4, and since 5.0.
      const option = 'slaveDelay' in second ? 'slaveDelay' : 'secondaryDelaySecs';
      return { members: [first, { ...second, [option]: seconds }] };
    });
  }

  /** Resolves when every member is primary or secondary. */
  async settled(): Promise<void> {
    await this.#onPrimary(async (run) => {
      for (;;) {
        // A member that steps down closes the connection.
        const { members } = await run({ replSetGetStatus: 1 }).catch(() => ({ members: [{}] }));
        if (members.every(({ state }: Document) => state === 1 || state === 2)) return;
        await pause(POLL_INTERVAL_MS);
      }
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }

  async #initiate(electionTimeoutMillis: number): Promise<void> {
    const [first] = this.members;
    await first?.command({
      replSetInitiate: {
        _id: NAME,
        members: this.members.map(({ host }, _id, { length }) => ({
          _id,
          host,
          priority: length === 2 && _id === 1 ? 0 : 1,
        })),
        settings: { electionTimeoutMillis, heartbeatIntervalMillis: 500 },
      },
    });
    await this.settled();
  }

  /** @param change Returns what is different in the configuration. */
  async #configure(change: (config: Document) => Document): Promise<void> {
    await this.#onPrimary(async (run) => {
      const { config } = await run({ replSetGetConfig: 1 });
      const next = { ...config, ...change(config), version: config.version + 1 };
      await run({ replSetReconfig: next });
    });
  }

  /** Runs administrative commands on the primary, as soon as there is one. */
  async #onPrimary<T>(work: (run: (command: Document) => Promise<Document>) => Promise<T>) {
    const client = new MongoClient(this.uri, { serverSelectionTimeoutMS: PRIMARY_WITHIN });
    const admin = client.db('admin');
    return work((command) => admin.command(command)).finally(() => client.close());
  }
}
