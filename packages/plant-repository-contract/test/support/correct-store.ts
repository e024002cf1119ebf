import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { type SimulatedStorage, WriteError } from './simulated-storage.js';

/** Settles like `promise`, or rejects with the error of `late` after `timeLimitMs` milliseconds. */
export async function within<T>(
  timeLimitMs: number,
  promise: Promise<T>,
  late: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeLimitMs);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Writes a plant once. Resolves with whether the row of its id is that of this `mark`, when it is durable. */
export async function writeOnce(
  storage: SimulatedStorage,
  plant: NewPlant,
  mark = Symbol('mark'),
): Promise<boolean> {
  const found = await storage.write(plant.id, { plant: { ...plant }, mark });
  await storage.flush(plant.id);
  return found === mark;
}

/** Retries with the same mark as long as acknowledgements are lost. */
export async function write(
  storage: SimulatedStorage,
  plant: NewPlant,
  once = writeOnce,
): Promise<void> {
  const mark = Symbol('mark');
  for (let sent = false; ; sent = true) {
    try {
      if (await once(storage, plant, mark)) return;
      throw new PlantIdTakenError('taken');
    } catch (error) {
      if (!(error instanceof WriteError)) throw error;
      if (!error.sent) throw notSent(sent);
    }
  }
}

function notSent(earlierSent: boolean): Error {
  return earlierSent ? new OutcomeUnknownError('unknown') : new StorageUnavailableError('refused');
}

/** A store that keeps every sentence of the port. */
export function correctStore(storage: SimulatedStorage, once = writeOnce): PlantRepository {
  let closed = false;
  const underWay = new Set<Promise<void>>();
  const refuseWhenClosed = () => {
    if (closed) throw new StorageUnavailableError('closed');
  };
  return {
    async add(plant, timeLimitMs) {
      refuseWhenClosed();
      if (timeLimitMs <= 0) throw new StorageUnavailableError('no time');
      const late = () => {
        storage.lost = false;
        return new OutcomeUnknownError('no response');
      };
      const adding = within(timeLimitMs, write(storage, plant, once), late);
      underWay.add(adding);
      await adding.finally(() => underWay.delete(adding));
    },
    async ready() {
      refuseWhenClosed();
      if (storage.silent) throw new StorageUnavailableError('no response');
      if (!storage.reachable || !storage.accessible || !storage.writable)
        throw new StorageUnavailableError('refused');
    },
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
}
