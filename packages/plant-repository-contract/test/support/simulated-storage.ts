import { setImmediate as transit } from 'node:timers/promises';
import { type NewPlant, type NewPlantFields, newPlant } from '@plant-store/domain';
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

/** The turns of the event loop from a row being visible to its being durable. */
const FLUSH_TURNS = 5;
/** The turns that a restart takes, during which the storage cannot be reached. */
const RESTART_TURNS = 20;

/** A storage with a simulated network in front of it; a test can make both fail. */
export class SimulatedStorage implements StorageFaults {
  rows = new Map<unknown, Row>();
  silent = false;
  reachable = true;
  accessible = true;
  writable = true;
  /** Whether the connections of its repositories carry nothing. A repository that connects again sets it. */
  lost = false;
  /** Whether a write that asks for nothing else is not flushed. */
  relaxed = false;
  /** How often it was killed: earlier connections are closed. */
  generation = 0;
  #durable = new Map<unknown, Row>();
  /** The rows of a transaction that is not committed. Other writers of their keys wait for its end. */
  #uncommitted = new Map<unknown, Row>();
  /** The connections of its repositories. */
  connected = 0;
  /** The ids under which another program has stored what is no plant. */
  readonly noPlants = new Set<bigint>();
  #silenceNext = false;
  #loseNext = false;
  #delayNext = false;
  #held: (() => void)[] = [];
  /** Ends the connections that wait for a response. */
  #disconnect: (() => void)[] = [];

  stored(id: bigint): NewPlant | undefined {
    return this.rows.get(id)?.plant;
  }

  /** Reads what other transactions have written, committed or not. */
  dirtyRead(key: unknown): Row | undefined {
    return this.rows.get(key) ?? this.#uncommitted.get(key);
  }

  /** Stores a plant directly, without the network, and overwrites another one. */
  keep(plant: NewPlant): void {
    this.rows.set(plant.id, { plant, mark: Symbol('mark') });
  }

  /**
   * Writes a row unless the key has one, and resolves with the mark of the row that is stored then. While the storage
   * is silent, the write is held, and carried out on recovery. A row of another write may not be durable yet.
   *
   * @param flush Whether the row survives {@link crash}.
   */
  async write(key: unknown, row: Row, flush = true): Promise<symbol> {
    this.#refuse();
    await transit();
    this.#refuse();
    if (!this.writable) throw new WriteError('it accepts no writes', false);
    if (this.#delayNext) this.#delay(key, row);
    if (this.silent || this.lost || this.#uncommitted.has(key)) await this.#recovery();
    const found = this.rows.get(key);
    if (found === undefined) this.rows.set(key, row);
    const flushing = found === undefined && flush ? this.flush(key) : undefined;
    flushing?.catch(() => undefined);
    if (this.#silenceNext) await this.#fallSilent();
    if (this.#loseNext) {
      this.#loseNext = false;
      throw new WriteError('the connection was closed', true);
    }
    await flushing;
    return (found ?? row).mark;
  }

  /** Resolves with all rows that are committed and durable. While the storage is silent, the read is held. */
  async read(): Promise<readonly NewPlant[]> {
    this.#refuse();
    await transit();
    if (this.silent) await this.#recovery();
    return [...this.#durable.values()].map(({ plant }) => plant);
  }

  /** Resolves when the row of a key is durable. */
  async flush(key: unknown): Promise<void> {
    const { generation } = this;
    for (let turn = 0; turn < FLUSH_TURNS; turn += 1) await transit();
    if (generation !== this.generation) throw new WriteError('the storage was killed', true);
    const row = this.rows.get(key);
    if (row !== undefined) this.#durable.set(key, row);
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

  delayNextWrite = async () => {
    this.#delayNext = true;
  };

  connections = async () => this.connected;

  storeNoPlant = async (id: bigint) => {
    this.noPlants.add(id);
  };

  outage = async () => {
    this.reachable = false;
    for (const end of this.#disconnect.splice(0)) end();
  };

  refuseAccess = async () => {
    this.accessible = false;
    this.silent = false;
    for (const end of this.#disconnect.splice(0)) end();
  };

  refuseWrites = async () => {
    this.writable = false;
  };

  loseConnections = async () => {
    this.lost = true;
  };

  holdUncommitted = async (fields: NewPlantFields) => {
    this.#uncommitted.set(fields.id, { plant: newPlant(fields), mark: Symbol('mark') });
  };

  relaxDurability = async () => {
    this.relaxed = true;
  };

  commitUnflushed = async (fields: NewPlantFields) => {
    this.rows.set(fields.id, { plant: newPlant(fields), mark: Symbol('mark') });
  };

  crash = async () => {
    this.generation += 1;
    this.rows = new Map(this.#durable);
    this.reachable = false;
    for (let turn = 0; turn < RESTART_TURNS; turn += 1) await transit();
    this.reachable = true;
  };

  recover = async () => {
    this.silent = false;
    this.reachable = true;
    this.accessible = true;
    this.writable = true;
    this.lost = false;
    this.relaxed = false;
    this.#uncommitted.clear();
    for (const goOn of this.#held.splice(0)) goOn();
  };

  #delay(key: unknown, row: Row): never {
    this.#delayNext = false;
    this.#held.push(() => {
      if (!this.rows.has(key)) this.rows.set(key, row);
    });
    throw new WriteError('the connection was closed', true);
  }

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
    return new Promise((resolve, reject) => {
      this.#held.push(resolve);
      this.#disconnect.push(() => reject(new WriteError('the connection was closed', true)));
    });
  }
}
