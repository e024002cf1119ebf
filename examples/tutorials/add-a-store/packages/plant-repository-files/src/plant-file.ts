import { randomUUID } from 'node:crypto';
import { link, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
  toPlant,
} from '@plant-store/domain';

/** One attempt to store one plant: writes a complete draft, then links it to its final name. */
export class PlantFile {
  readonly #folder: string;
  readonly #draft: string;
  readonly #path: string;
  readonly #text: string;
  #givenUp = false;
  #published = false;

  constructor(folder: string, plant: NewPlant) {
    this.#folder = folder;
    this.#draft = join(folder, `${randomUUID()}.draft`);
    this.#path = join(folder, `${plant.id}.json`);
    this.#text = JSON.stringify(toPlant(plant));
  }

  /** Whether the plant may be found under its id from now on. */
  get published(): boolean {
    return this.#published;
  }

  /** Prevents the publication from now on. Has no effect once the plant is published. */
  giveUp(): void {
    this.#givenUp = true;
  }

  /** Rejects as `PlantRepository.add` does. */
  async store(): Promise<void> {
    try {
      await this.#writeDraft();
      if (this.#givenUp) throw new StoreUnavailableError('the time limit has passed');
      this.#published = true;
      await this.#publish();
    } finally {
      await rm(this.#draft, { force: true }).catch(() => {});
    }
  }

  async #writeDraft(): Promise<void> {
    try {
      await writeFile(this.#draft, this.#text, { flag: 'wx', flush: true });
    } catch (cause) {
      throw new StoreUnavailableError('the plant cannot be written', { cause });
    }
  }

  /** `link` fails when the name exists: the file system decides which plant is first. */
  async #publish(): Promise<void> {
    try {
      const taken = await link(this.#draft, this.#path).then(() => false, isTaken);
      await this.#flushFolder();
      if (taken) throw new PlantIdTakenError('a plant with this id exists');
    } catch (cause) {
      if (cause instanceof PlantIdTakenError) throw cause;
      throw new OutcomeUnknownError('the plant may have been stored', { cause });
    }
  }

  /** A new name is durable when its folder is flushed. */
  async #flushFolder(): Promise<void> {
    const folder = await open(this.#folder);
    await folder.sync().finally(() => folder.close());
  }
}

function isTaken(error: NodeJS.ErrnoException): true {
  if (error.code === 'EEXIST') return true;
  throw error;
}
