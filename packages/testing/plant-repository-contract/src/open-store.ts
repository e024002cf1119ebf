import type { NewPlantFields, PlantRepository } from '@plant-store/domain';

/**
 * Faults that a test can inject, as hooks. A store leaves out only those of the capabilities that it lacks, which `without`
 * of `describePlantRepository` names.
 *
 * No hook can show what only a power failure loses, such as a write on a server whose flushes were turned off. For such a
 * setting, an adapter needs a test of its own: `add` and `ready` are unavailable, and the message names the setting.
 */
export interface DatabaseFaults {
  /** From now on, the database does not respond. Connections stay open, and what is sent may arrive later. */
  stall(): Promise<void>;
  /** The database carries out the next write, but from then on responds to nothing, not even to that write. */
  silenceAfterWrite(): Promise<void>;
  /** The database carries out the next write, but the connection ends before the response. */
  loseNextAcknowledgement(): Promise<void>;
  /**
   * The connection of the next write ends before the database has carried it out. The database does so when {@link recover}
   * is called, and that resolves afterwards. All other requests are carried out meanwhile.
   */
  delayNextWrite(): Promise<void>;
  /** From now on, the database cannot be reached: open connections end, and new ones are refused. */
  outage(): Promise<void>;
  /**
   * From now on, the database refuses the credentials or the permissions of the repository. It can be reached, and
   * open connections end: a response that was held by {@link silenceAfterWrite} is lost.
   */
  refuseAccess(): Promise<void>;
  /** From now on, the database accepts no writes, as a replica that cannot be promoted. It can be reached and read. */
  refuseWrites(): Promise<void>;
  /** From now on, open connections carry nothing, without a sign, as when a firewall forgets them. New ones work. */
  loseConnections(): Promise<void>;
  /** Another client inserts a plant in a transaction, which is open until {@link recover} rolls it back. */
  holdUncommitted(plant: NewPlantFields): Promise<void>;
  /** From now on, an administrator lets the database acknowledge writes by default before they survive {@link crash}. */
  relaxDurability(): Promise<void>;
  /** Another client stores a plant that is visible immediately, and that {@link crash} loses unless it is flushed before. */
  commitUnflushed(plant: NewPlantFields): Promise<void>;
  /** Kills the database immediately, so that only durable data remains, and starts it again. */
  crash(): Promise<void>;
  /** Not a fault: resolves with the number of connections that the repositories have to the database. */
  connections(): Promise<number>;
  /** Ends every fault, if there is one. Writes under way may still arrive. Also called after each case with a hook. */
  recover(): Promise<void>;
}

/** A new, empty store under test: its repository, and functions that read and reopen its database. */
export interface OpenStore extends Partial<DatabaseFaults> {
  readonly repository: PlantRepository;
  /**
   * Reads the stored plant directly from the database, past the repository and past `stall` and `silenceAfterWrite`.
   * Resolves with `undefined` when there is none, even while the table or the folder does not exist.
   */
  stored(id: bigint): Promise<NewPlantFields | undefined>;
  /** Opens another repository on the same database, as after a crash: the first one was not closed. */
  reopen(): Promise<PlantRepository>;
  /** Passwords and other secrets that the repository was given. No error may contain one. */
  readonly secrets?: readonly string[];
}
