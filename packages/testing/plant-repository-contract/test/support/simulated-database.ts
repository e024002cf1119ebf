import { setImmediate as transit } from 'node:timers/promises';
import { type NewPlant, type NewPlantFields, newPlant } from '@plant-store/domain';
import type { DatabaseFaults } from '@plant-store/plant-repository-contract';

export class WriteError extends Error {
  /** Whether the database may have carried out the write. */
  readonly sent: boolean;

  constructor(state: 'sent' | 'not sent') {
    super(state === 'sent' ? 'the connection was closed' : 'the write was refused');
    this.sent = state === 'sent';
  }
}

interface Row {
  readonly plant: NewPlant;
  /** Identifies the add that wrote it. */
  readonly mark: symbol;
}

/** What a test has done to a database, until it recovers. */
type Fault = 'unreachable' | 'refusing' | 'read-only' | 'silent' | 'disconnected' | 'relaxed';

/** What may happen to a write. */
type Fate = 'silence' | 'loss' | 'delay';

/** The turns of the event loop from a row being visible to its being durable. */
const FLUSH_TURNS = 5;
/** The turns that a restart takes, during which the database cannot be reached. */
const RESTART_TURNS = 20;

/** A database with a simulated network in front of it; a test can make both fail. */
export class SimulatedDatabase implements DatabaseFaults {
  fault: Fault | undefined;
  rows = new Map<bigint, Row>();
  /** How often it was killed: earlier connections are closed. */
  generation = 0;
  /** The connections of its repositories. */
  connected = 0;
  #durable = new Map<bigint, Row>();
  /** The rows of a transaction that is not committed. Other writers of their ids wait for its end. */
  readonly #uncommitted = new Map<bigint, Row>();
  #next: Fate | undefined;
  #held: (() => void)[] = [];
  /** Ends the connections that wait for a response. */
  #disconnect: (() => void)[] = [];

  stored = async (id: bigint) => this.rows.get(id)?.plant;

  /** Reads what other transactions have written, committed or not. */
  dirtyRead(id: bigint): Row | undefined {
    return this.rows.get(id) ?? this.#uncommitted.get(id);
  }

  /** Stores a plant directly, without the network, and overwrites a plant with its id. */
  keep(plant: NewPlant): void {
    this.rows.set(plant.id, { plant, mark: Symbol('mark') });
  }

  /**
   * Writes a row unless the id has one, and resolves with the mark of the row that is stored then. While the database
   * is silent, the write is held, and carried out on recovery. A row of another write may not be durable yet.
   *
   * @param durability Whether the row survives {@link crash}.
   */
  async write(
    { ...plant }: NewPlant,
    mark: symbol,
    durability: 'flushed' | 'unflushed' = 'flushed',
  ): Promise<symbol> {
    const { id } = plant;
    const row = { plant, mark };
    await this.#arrive();
    if (this.fault === 'read-only') throw new WriteError('not sent');
    const fate = this.#next;
    this.#next = undefined;
    if (fate === 'delay') {
      this.#held.push(() => this.rows.set(id, this.rows.get(id) ?? row));
      throw new WriteError('sent');
    }
    if (this.#isSilent() || this.#uncommitted.has(id)) await this.#recovery();
    const found = this.rows.get(id);
    if (found === undefined) this.rows.set(id, row);
    const flushing = found === undefined && durability === 'flushed' ? this.flush(id) : undefined;
    flushing?.catch(() => undefined);
    if (fate === 'loss') throw new WriteError('sent');
    if (fate === 'silence') {
      this.fault = 'silent';
      await this.#recovery();
    }
    await flushing;
    return (found ?? row).mark;
  }

  /** Writes a plant. Resolves with whether the row with its id has this `mark`, once it is durable. */
  async insert(plant: NewPlant, mark: symbol): Promise<boolean> {
    const found = await this.write(plant, mark);
    await this.flush(plant.id);
    return found === mark;
  }

  /** Resolves when the row of an id is durable. */
  async flush(id: bigint): Promise<void> {
    const { generation } = this;
    for (let turn = 0; turn < FLUSH_TURNS; turn += 1) await transit();
    if (generation !== this.generation) throw new WriteError('sent');
    const row = this.rows.get(id);
    if (row !== undefined) this.#durable.set(id, row);
  }

  stall = async () => this.#fail('silent');
  refuseWrites = async () => this.#fail('read-only');
  loseConnections = async () => this.#fail('disconnected');
  relaxDurability = async () => this.#fail('relaxed');
  outage = async () => this.#fail('unreachable');
  refuseAccess = async () => this.#fail('refusing');

  silenceAfterWrite = async () => this.#doom('silence');
  loseNextAcknowledgement = async () => this.#doom('loss');
  delayNextWrite = async () => this.#doom('delay');

  connections = async () => this.connected;

  holdUncommitted = async (fields: NewPlantFields) => {
    this.#uncommitted.set(fields.id, { plant: newPlant(fields), mark: Symbol('mark') });
  };

  commitUnflushed = async (fields: NewPlantFields) => this.keep(newPlant(fields));

  crash = async () => {
    this.generation += 1;
    this.rows = new Map(this.#durable);
    this.fault = 'unreachable';
    for (let turn = 0; turn < RESTART_TURNS; turn += 1) await transit();
    await this.recover();
  };

  recover = async () => {
    this.fault = undefined;
    this.#uncommitted.clear();
    for (const goOn of this.#held.splice(0)) goOn();
  };

  #doom(fate: Fate): void {
    this.#next = fate;
  }

  #fail(fault: Fault): void {
    this.fault = fault;
    if (this.#isClosed()) for (const end of this.#disconnect.splice(0)) end();
  }

  #isClosed = () => this.fault === 'unreachable' || this.fault === 'refusing';
  #isSilent = () => this.fault === 'silent' || this.fault === 'disconnected';

  async #arrive(): Promise<void> {
    if (this.#isClosed()) throw new WriteError('not sent');
    await transit();
    if (this.#isClosed()) throw new WriteError('not sent');
  }

  #recovery(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#held.push(resolve);
      this.#disconnect.push(() => reject(new WriteError('sent')));
    });
  }
}
