import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type NewPlant,
  OutcomeUnknownError,
  StoreUnavailableError,
  toPlant,
} from '@plant-store/domain';
import type { Disk } from './disk.js';

/** One attempt to store one plant: writes a complete draft, then links it to its final name. */
export class PlantFile {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #draft: string;
  readonly #path: string;
  readonly #text: string;
  #givenUp = false;
  #published = false;

  constructor(disk: Disk, folder: string, plant: NewPlant) {
    this.#disk = disk;
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
      await this.#disk.remove(this.#draft).catch(() => {});
    }
  }

  async #writeDraft(): Promise<void> {
    try {
      await this.#disk.write(this.#draft, this.#text);
      await this.#disk.flush(this.#draft);
    } catch (cause) {
      throw new StoreUnavailableError('the plant cannot be written', { cause });
    }
  }

  async #publish(): Promise<void> {
    try {
      await this.#disk.link(this.#draft, this.#path);
      await this.#disk.flush(this.#folder);
    } catch (cause) {
      throw new OutcomeUnknownError('the plant may have been stored', { cause });
    }
  }
}
