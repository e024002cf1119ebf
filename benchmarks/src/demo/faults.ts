import type { ReplicaSet } from '@plant-store/test-servers/mongod';

/** What happens to the primary of a replica set. */
export interface Fault {
  readonly name: string;
  /** What is printed when it begins. */
  readonly begins: string;
  /** Resolves with what ends it; with nothing if it ends by itself. */
  begin(set: ReplicaSet): Promise<Ending | undefined>;
}

export interface Ending {
  readonly ends: string;
  end(): unknown;
}

/** In the order in which they happen. */
export const faults: readonly Fault[] = [
  {
    name: 'killed',
    begins: 'the primary is killed (SIGKILL)',
    begin: async (set) => {
      const primary = await set.primary();
      await primary.kill();
      return { ends: 'the killed member is started again', end: () => primary.restart() };
    },
  },
  {
    name: 'frozen',
    begins: 'the primary is frozen (SIGSTOP)',
    begin: async (set) => {
      const primary = await set.primary();
      primary.freeze();
      return { ends: 'the frozen member continues (SIGCONT)', end: () => primary.thaw() };
    },
  },
  {
    name: 'stepped down',
    begins: 'the primary steps down (replSetStepDown)',
    begin: async (set) => {
      await set.stepDown();
      return undefined;
    },
  },
];
