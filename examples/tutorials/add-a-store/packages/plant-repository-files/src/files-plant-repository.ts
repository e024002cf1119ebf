import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type NewPlant,
  OutcomeUnknownError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { PlantFile } from './plant-file.js';

/** Keeps each plant in a file of its own, in a folder of a local file system. */
export class FilesPlantRepository implements PlantRepository {
  readonly #folder: string;
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  /** @param folder Where the plants are kept. Never created: a disk that is not mounted is an outage. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const file = new PlantFile(this.#folder, plant);
    const storing = file.store().finally(() => this.#underWay.delete(storing));
    this.#underWay.add(storing);
    await within(timeLimitMs, storing, () => {
      file.giveUp();
      return file.published
        ? new OutcomeUnknownError('the plant could not be made durable in time')
        : new StoreUnavailableError('the plant could not be written in time');
    });
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    try {
      await access(join(this.#folder, '/'), constants.W_OK);
    } catch (cause) {
      throw new StoreUnavailableError('the folder cannot be written to', { cause });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  #expectOpen(): void {
    if (this.#closed) throw new StoreUnavailableError('the database is closed');
  }
}

/** Settles like `promise`, or rejects with the error of `late` after `timeLimitMs` milliseconds. */
async function within(
  timeLimitMs: number,
  promise: Promise<void>,
  late: () => Error,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeLimitMs);
  });
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
