import {
  type NewPlant,
  OutcomeUnknownError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Disk, localDisk } from './disk.js';
import { PlantFile } from './plant-file.js';

/** The port allows `ready` 2 seconds. */
const READY_LIMIT_MS = 1_000;
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Keeps each plant in a file of its own, in a folder of a local file system. */
export class FilesPlantRepository implements PlantRepository {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;

  /**
   * @param folder Where the plants are kept. Never created: a disk that is not mounted is an outage.
   * @param disk The file system; a test passes one that fails.
   */
  constructor(folder: string, disk: Disk = localDisk) {
    this.#folder = folder;
    this.#disk = disk;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const file = new PlantFile(this.#disk, this.#folder, plant);
    const adding = within(timeLimitMs, file.store(), () => {
      file.giveUp();
      return file.published
        ? new OutcomeUnknownError('the plant could not be made durable in time')
        : new StoreUnavailableError('the plant could not be written in time');
    }).finally(() => this.#underWay.delete(adding));
    this.#underWay.add(adding);
    await adding;
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    try {
      const checking = this.#disk.expectWritable(this.#folder);
      await within(READY_LIMIT_MS, checking, () => new Error('no response'));
    } catch (cause) {
      throw new StoreUnavailableError('the folder cannot be written to', { cause });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
  }

  #expectOpen(): void {
    if (this.#closed) throw new StoreUnavailableError('the store is closed');
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
    timer = setTimeout(() => reject(late()), Math.min(timeLimitMs, MAX_TIMER_MS));
  });
  await Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
