import { setImmediate as transit, setTimeout as wait } from 'node:timers/promises';
import type { Difference, Expected } from '@plant-store/contract-suite/mocha';
import { type NewPlant, newPlant, StoreUnavailableError } from '@plant-store/domain';
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

/** The plants of a database, by how final they are; and how a test makes reads fail. */
function simulatedDatabase() {
  type Plants = Map<bigint, NewPlant>;
  const [durable, unflushed, uncommitted]: Plants[] = [new Map(), new Map(), new Map()];
  return {
    ...({ durable, unflushed, uncommitted } as Record<
      'durable' | 'unflushed' | 'uncommitted',
      Plants
    >),
    fault: undefined as 'unreachable' | 'silent' | undefined,
    /** Ends the reads that wait for a response: with an error, or as usual. */
    held: [] as ((error?: Error) => void)[],
  };
}

type Database = ReturnType<typeof simulatedDatabase>;

function become(database: Database, fault: Database['fault']) {
  return async () => {
    database.fault = fault;
    if (fault === 'silent') return;
    const error = fault && new Error('the connection was closed');
    for (const end of database.held.splice(0)) end(error);
  };
}

/** Resolves with the plants that are committed and durable. While the database is silent, the read is held. */
async function readAll(database: Database): Promise<NewPlant[]> {
  await transit();
  if (database.fault === 'unreachable') throw new Error('the connection was refused');
  if (database.fault === 'silent') {
    await new Promise<void>((resolve, reject) =>
      database.held.push((error) => (error ? reject(error) : resolve())),
    );
  }
  return [...database.durable.values()];
}

function correctReader(database: Database) {
  const past = { closed: false };

  async function read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]> {
    const limit = reader.limit(timeLimitMs);
    const error = reader.refuse();
    if (error) throw error;
    if (past.closed || limit <= 0) throw new StoreUnavailableError('closed, or no time');
    const reading = readAll(database).catch(() => {
      throw new StoreUnavailableError('refused');
    });
    const late = wait(limit, undefined, { ref: false }).then(() => {
      throw new StoreUnavailableError('no response');
    });
    const found = reader.select(reader.see(await Promise.race([reading, late])), page);
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
    async add(plant: NewPlant) {
      for (const _ of ['on its way', 'flushed']) await transit();
      database.durable.set(plant.id, plant);
    },
    read: (page: PageRequest, timeLimitMs: number) =>
      read(page, timeLimitMs).catch((error: Error) => Promise.reject(reader.failed(error))),
    async ready() {},
    async close() {
      past.closed = true;
    },
  };
  return reader;
}

/** Opens a reader with a database of its own. It differs from the correct one, even after it is reopened. */
export function openReader(difference: Difference<CorrectReader>): OpenReader & Expected {
  const database = simulatedDatabase();
  const open = () => {
    const reader = correctReader(database);
    return Object.assign(reader, difference({ ...reader }));
  };
  const repository = open();
  return {
    repository,
    reopen: async () => open(),
    secrets: [PASSWORD],
    failure: repository.failure,
    lateFailure: repository.lateFailure,
    stored: async (id) => database.durable.get(id as never) ?? database.unflushed.get(id),
    stall: become(database, 'silent'),
    outage: become(database, 'unreachable'),
    refuseAccess: become(database, 'unreachable'),
    recover: become(database, undefined),
    storeNoPlant: async (id) => void database.durable.set(id, { id } as NewPlant),
    holdUncommitted: async (it) => void database.uncommitted.set(it.id, newPlant(it)),
    commitUnflushed: async (it) => void database.unflushed.set(it.id, newPlant(it)),
    crash: async () => database.unflushed.clear(),
  };
}
