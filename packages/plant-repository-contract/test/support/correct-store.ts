import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { type SimulatedStorage, WriteError } from './simulated-storage.js';

/** Settles like `promise`, or rejects with the error of `late` after `timeLimit` milliseconds. */
export async function within(
  timeLimit: number,
  promise: Promise<void>,
  late: () => Error,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeLimit);
  });
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Retries with the same mark as long as acknowledgements are lost. */
async function store(storage: SimulatedStorage, plant: NewPlant): Promise<void> {
  const row = { plant: { ...plant }, mark: Symbol('mark') };
  for (let sent = false; ; sent = true) {
    try {
      const mark = await storage.write(plant.id, row);
      if (mark !== row.mark) throw new PlantIdTakenError('taken');
      return;
    } catch (error) {
      if (!(error instanceof WriteError)) throw error;
      if (!error.sent) throw notSent(sent);
    }
  }
}

function notSent(earlierSent: boolean): Error {
  return earlierSent ? new OutcomeUnknownError('unknown') : new StorageUnavailableError('refused');
}

/** A store that keeps every promise of the port. */
export function correctStore(storage: SimulatedStorage): PlantRepository {
  let closed = false;
  const underWay = new Set<Promise<void>>();
  const refuseWhenClosed = () => {
    if (closed) throw new StorageUnavailableError('closed');
  };
  return {
    async add(plant, timeLimit) {
      refuseWhenClosed();
      if (timeLimit <= 0) throw new StorageUnavailableError('no time');
      const late = () => new OutcomeUnknownError('no response');
      const adding = within(timeLimit, store(storage, plant), late);
      underWay.add(adding);
      await adding.finally(() => underWay.delete(adding));
    },
    async ready() {
      refuseWhenClosed();
      if (storage.silent) throw new StorageUnavailableError('no response', { waits: true });
      if (!storage.reachable || !storage.accessible) throw new StorageUnavailableError('refused');
    },
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
}
