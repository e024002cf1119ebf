import { setImmediate as transit } from 'node:timers/promises';
import type { Difference, Expected } from '@plant-store/contract-suite/mocha';
import {
  type NewPlant,
  type NewPlantFields,
  newPlant,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type PageRequest, UnreadablePlantError } from '@plant-store/plant-reader';
import type { OpenReader } from '@plant-store/plant-reader-contract';

/** A correct reader: its database, its past, its methods, and the steps of which they consist. A defect replaces some. */
export type CorrectReader = ReturnType<typeof correctReader>;

/** What a reader is given that no error may contain. */
export const PASSWORD = 'a-pass/word';

/** Returns the page of plants that are in any order. */
export function pageOf(plants: readonly NewPlant[], { after, limit }: PageRequest): NewPlant[] {
  const left = plants.filter(({ id }) => after === undefined || id > after);
  return left.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/** A database with a simulated network in front of it; a test can make reads fail. */
class SimulatedDatabase {
  fault: 'unreachable' | 'silent' | undefined;
  /** How often it was killed. */
  generation = 0;
  /** The committed plants. Each is durable soon after it. */
  rows = new Map<bigint, NewPlant>();
  readonly uncommitted = new Map<bigint, NewPlant>();
  readonly #durable = new Map<bigint, NewPlant>();
  #held: { answer(): void; disconnect(error: Error): void }[] = [];

  async write(plant: NewPlant): Promise<void> {
    this.rows.set(plant.id, plant);
    await transit();
    await transit();
    this.#durable.set(plant.id, plant);
  }

  /** Resolves with the plants that are committed and durable. While the database is silent, the read is held. */
  async read(): Promise<NewPlant[]> {
    await transit();
    if (this.fault === 'unreachable') throw new Error('the connection was refused');
    if (this.fault === 'silent') {
      await new Promise<void>((answer, disconnect) => this.#held.push({ answer, disconnect }));
    }
    return [...this.#durable.values()];
  }

  stored = async (id: bigint) => this.rows.get(id);

  stall = async () => {
    this.fault = 'silent';
  };

  outage = async () => {
    this.fault = 'unreachable';
    for (const { disconnect } of this.#held.splice(0)) disconnect(new Error('it was closed'));
  };

  refuseAccess = this.outage;

  recover = async () => {
    this.fault = undefined;
    this.uncommitted.clear();
    for (const { answer } of this.#held.splice(0)) answer();
  };

  storeNoPlant = async (id: bigint) => {
    this.#durable.set(id, { id } as NewPlant);
  };

  holdUncommitted = async (fields: NewPlantFields) => {
    this.uncommitted.set(fields.id, newPlant(fields));
  };

  commitUnflushed = async (fields: NewPlantFields) => {
    this.rows.set(fields.id, newPlant(fields));
  };

  crash = async () => {
    this.generation += 1;
    this.rows = new Map(this.#durable);
  };
}

function correctReader(database: SimulatedDatabase) {
  const past = { failed: 0, closed: false };

  async function read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]> {
    const limit = reader.limit(timeLimitMs);
    const error = reader.refuse();
    if (error) throw error;
    if (past.closed || limit <= 0) throw new StoreUnavailableError('closed, or no time');
    const reading = database.read().catch(() => {
      throw new StoreUnavailableError('refused');
    });
    const found = reader.select(reader.see(await within(limit, reading)), page);
    const invalid = found.find(({ name }) => name === undefined);
    if (invalid !== undefined) throw new UnreadablePlantError(`row ${invalid.id} is not a plant`);
    return found;
  }

  const reader = {
    database,
    past,
    /** Returns the error of a call that does not ask the database. */
    refuse: (): Error | false | undefined => false,
    limit: (timeLimitMs: number) => timeLimitMs,
    /** Returns what the reader treats as the plants of the database. */
    see: (plants: readonly NewPlant[]) => plants,
    /** Selects the plants of a page from all. */
    select: pageOf,
    /** Returns what a read rejects with. */
    failed: (error: Error) => error,
    add: (plant: NewPlant, _timeLimitMs: number) => database.write(plant),
    read: (page: PageRequest, timeLimitMs: number) =>
      read(page, timeLimitMs).catch((error: Error) => {
        past.failed += 1;
        throw reader.failed(error);
      }),
    async ready() {},
    async close() {
      past.closed = true;
    },
  };
  return reader;
}

/** Settles like `promise`, or rejects as unavailable after `timeLimitMs` milliseconds. */
async function within<T>(timeLimitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailableError('no response')), timeLimitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Opens a reader with a database of its own. It differs from the correct one, even after it is reopened. */
export function openReader(difference: Difference<CorrectReader>): OpenReader & Expected {
  const database = new SimulatedDatabase();
  const open = () => {
    const reader = correctReader(database);
    return Object.assign(reader, difference({ ...reader }));
  };
  const repository = open();
  const { failure, lateFailure } = repository;
  const reopen = async () => open();
  return { ...database, repository, reopen, secrets: [PASSWORD], failure, lateFailure };
}
