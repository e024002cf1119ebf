import { setTimeout as pause } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { MongodServer } from './mongod-server.js';

/** The options of a replica set that is started. */
export interface ReplicaSetOptions {
  readonly members: 1 | 3;
  /** Milliseconds without a primary until the others elect one. 2,000 by default; MongoDB's default is 10,000. */
  readonly electionTimeoutMs?: number;
  /** The size of the cache of each member. 0.25 by default. */
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

async function primaryOrNone(member: MongodServer): Promise<MongodServer | undefined> {
  const hello = await member.command({ hello: 1 }).catch((): Document => ({}));
  return hello.isWritablePrimary === true ? member : undefined;
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
    const until = performance.now() + PRIMARY_WITHIN;
    while (performance.now() < until) {
      const primaries = await Promise.all(this.members.map(primaryOrNone));
      const primary = primaries.find((member) => member !== undefined);
      if (primary !== undefined) return primary;
      await pause(POLL_INTERVAL_MS);
    }
    throw new Error('the replica set has no primary');
  }

  /** Makes the primary hand over to another member, as soon as one has caught up. */
  async stepDown(): Promise<void> {
    const primary = await this.primary();
    const stepDown = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 2 };
    while (!(await succeeds(primary.command(stepDown)))) await pause(POLL_INTERVAL_MS);
  }

  /** Changes the election timeout of the running set. */
  async electWithin(electionTimeoutMillis: number): Promise<void> {
    const primary = await this.primary();
    const { config } = await primary.command({ replSetGetConfig: 1 });
    const settings = { ...config.settings, electionTimeoutMillis };
    const version = config.version + 1;
    await primary.command({ replSetReconfig: { ...config, version, settings } });
  }

  /** Resolves when every member is primary or secondary. */
  async settled(): Promise<void> {
    const primary = await this.primary();
    for (;;) {
      const { members } = await primary.command({ replSetGetStatus: 1 });
      if (members.every(({ state }: Document) => state === 1 || state === 2)) return;
      await pause(POLL_INTERVAL_MS);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
  }

  async #initiate(electionTimeoutMillis: number): Promise<void> {
    const [first] = this.members;
    await first?.command({
      replSetInitiate: {
        _id: NAME,
        members: this.members.map(({ host }, _id) => ({ _id, host })),
        settings: { electionTimeoutMillis, heartbeatIntervalMillis: 500 },
      },
    });
    await this.settled();
  }
}
