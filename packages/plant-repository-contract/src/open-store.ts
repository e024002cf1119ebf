import type { NewPlantFields, PlantRepository } from '@plant-store/domain';

/**
 * Faults of the storage that a test can cause. A suite runs the cases of the faults that a store offers.
 * `without` of `describePlantRepository` gives the reasons for the others.
 */
export interface StorageFaults {
  /** From now on the storage does not respond. Connections stay open, and what is sent may arrive later. */
  stall(): Promise<void>;
  /** Lets the storage carry out the next write. From then on it does not respond, nor to that write. */
  silenceAfterWrite(): Promise<void>;
  /** Lets the storage carry out the next write, and loses its response: the connection ends. */
  loseNextAcknowledgement(): Promise<void>;
  /** From now on the storage cannot be reached: open connections end, and new ones are refused. */
  outage(): Promise<void>;
  /** From now on the storage refuses the repository: its credentials, or its permissions. */
  refuseAccess(): Promise<void>;
  /** Kills the storage, which then has only what it has made durable, and starts it again. */
  crash(): Promise<void>;
  /** Ends every fault: the storage can be used as before. What is under way may still arrive. */
  recover(): Promise<void>;
}

/** The name of one of {@link StorageFaults}. */
export type StorageHook = keyof StorageFaults;

/** Every name there is. */
export const STORAGE_HOOKS: readonly StorageHook[] = [
  'stall',
  'silenceAfterWrite',
  'loseNextAcknowledgement',
  'outage',
  'refuseAccess',
  'crash',
  'recover',
];

/** A new, empty store: the repository under test, and a look at what it has kept. */
export interface OpenStore extends Partial<StorageFaults> {
  readonly repository: PlantRepository;
  /**
   * Reads the plant as it is kept, past the repository. `undefined` when there is none: also before
   * anything was kept, when the table or the folder may not exist. Not called while a fault lasts.
   */
  stored(id: bigint): Promise<NewPlantFields | undefined>;
  /** Opens another repository on what this one keeps, as after a crash: this one was not closed. */
  reopen(): Promise<PlantRepository>;
  /** Passwords and the like that the repository was given. No error may carry one. */
  readonly secrets?: readonly string[];
}
