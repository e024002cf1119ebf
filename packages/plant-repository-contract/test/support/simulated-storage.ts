import { setImmediate as transit } from 'node:timers/promises';
import type { NewPlant } from '@plant-store/domain';
import type { StorageFaults } from '@plant-store/plant-repository-contract';

/** Why a write was not acknowledged. */
export class WriteError extends Error {
  /** Whether the storage may have carried out the write. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

interface Row {
  readonly plant: NewPlant;
  /** Identifies the add that wrote it. */
  readonly mark: symbol;
}

/** A storage with a simulated network in front of it; a test can make both fail. */
export class SimulatedStorage implements StorageFaults {
  rows = new Map<unknown, Row>();
  silent = false;
  reachable = true;
  accessible = true;
  /** How often it was killed: earlier connections are closed. */
  generation = 0;
  #durable = new Map<unknown, Row>();
  #silenceNext = false;
  #loseNext = false;
  #held: (() => void)[] = [];

  stored(id: bigint): NewPlant | undefined {
    return this.rows.get(id)?.plant;
  }

  /** Stores a plant directly, without the network, and overwrites another one. */
  keep(plant: NewPlant): void {
    this.rows.set(plant.id, { plant, mark: Symbol('mark') });
  }

  /**
   * Writes a row unless the key has one, and resolves with the mark of the row that is stored then.
   * While the storage is silent, the write is held, and carried out on recovery.
   *
   * @param flush Whether the row survives {@link crash}.
   */
  async write(key: unknown, row: Row, flush = true): Promise<symbol> {
    this.#refuse();
    await transit();
    if (this.silent) await this.#recovery();
    const kept = this.rows.get(key) ?? row;
    this.rows.set(key, kept);
    if (flush) this.#durable.set(key, kept);
    await transit();
    if (this.#silenceNext) await this.#fallSilent();
    if (this.#loseNext) {
      this.#loseNext = false;
      throw new WriteError('the connection was closed', true);
    }
    return kept.mark;
  }

  stall = async () => {
    this.silent = true;
  };

  silenceAfterWrite = async () => {
    this.#silenceNext = true;
  };

  loseNextAcknowledgement = async () => {
    this.#loseNext = true;
  };

  outage = async () => {
    this.reachable = false;
  };

  refuseAccess = async () => {
    this.accessible = false;
  };

  crash = async () => {
    this.generation += 1;
    this.rows = new Map(this.#durable);
  };

  recover = async () => {
    this.silent = false;
    this.reachable = true;
    this.accessible = true;
    for (const goOn of this.#held.splice(0)) goOn();
  };

  #refuse(): void {
    if (!this.reachable) throw new WriteError('the connection was refused', false);
    if (!this.accessible) throw new WriteError('the permissions are missing', false);
  }

  async #fallSilent(): Promise<void> {
    this.#silenceNext = false;
    this.silent = true;
    await this.#recovery();
  }

  #recovery(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve));
  }
}
