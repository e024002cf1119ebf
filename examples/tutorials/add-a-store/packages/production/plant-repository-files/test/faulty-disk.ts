import { EventEmitter, once } from 'node:events';
import {
  accessSync,
  constants,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type NewPlantFields, newPlant, toPlant } from '@plant-store/domain';
import type { Disk } from '../src/disk.js';

const failure = (code: string) => Object.assign(new Error(`a fake ${code}`), { code });

/** A folder whose disk fails as a test says. A power cut takes what was not flushed. */
export class FaultyDisk implements Disk {
  readonly #folder: string;
  readonly #events = new EventEmitter().setMaxListeners(0);
  /** Files whose name, or whose content, is only in the memory of the operating system. */
  readonly #unflushedNames = new Set<string>();
  readonly #unflushedContents = new Set<string>();
  /** The code with which calls fail. */
  #error: string | undefined;
  #refusesWrites = false;
  #stalls = false;
  #nextLink: 'fails' | 'hangs' | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(path: string, text: string): Promise<void> {
    await this.#begin();
    this.#unflushedNames.add(path);
    this.#unflushedContents.add(path);
    writeFileSync(path, this.#refusesWrites ? text.slice(0, 5) : text, { flag: 'wx' });
    if (this.#refusesWrites) throw failure('ENOSPC');
  }

  async flush(path: string): Promise<void> {
    await this.#begin();
    if (path === this.#folder) this.#unflushedNames.clear();
    else this.#unflushedContents.delete(path);
  }

  async link(path: string, name: string): Promise<void> {
    await this.#begin();
    linkSync(path, name);
    this.#unflushedNames.add(name);
    if (this.#unflushedContents.has(path)) this.#unflushedContents.add(name);
    const next = this.#nextLink;
    this.#nextLink = undefined;
    if (next === 'fails') throw failure('EIO');
    if (next !== 'hangs') return;
    this.#stalls = true;
    await this.#begin();
  }

  async remove(path: string): Promise<void> {
    await this.#begin();
    rmSync(path, { force: true });
  }

  async expectWritable(folder: string): Promise<void> {
    await this.#begin();
    if (this.#refusesWrites) throw failure('EROFS');
    accessSync(join(folder, '/'), constants.W_OK);
  }

  async #begin(): Promise<void> {
    while (this.#stalls) await once(this.#events, 'change');
    if (this.#error !== undefined) throw failure(this.#error);
  }

  #failWith(error: string | undefined): void {
    this.#stalls = false;
    this.#error = error;
    this.#events.emit('change');
  }

  /** Lets all calls fail, loses what was not flushed, and works again. */
  async #cutPower(): Promise<void> {
    this.#failWith('EIO');
    // Calls under way fail first, as if their process had ended.
    await setImmediate();
    for (const path of [...this.#unflushedNames, ...this.#unflushedContents]) {
      rmSync(path, { force: true });
    }
    this.#failWith(undefined);
  }

  /** The hooks of the contract suite, and what it reads past the store. */
  readonly hooks = {
    stored: async (id: bigint): Promise<NewPlantFields | undefined> => {
      if (!readdirSync(this.#folder).includes(`${id}.json`)) return undefined;
      return { id, ...JSON.parse(readFileSync(join(this.#folder, `${id}.json`), 'utf8')) };
    },
    outage: async () => this.#failWith('EIO'),
    refuseAccess: async () => this.#failWith('EACCES'),
    refuseWrites: async () => {
      this.#refusesWrites = true;
    },
    stall: async () => {
      this.#stalls = true;
    },
    loseNextAcknowledgement: async () => {
      this.#nextLink = 'fails';
    },
    silenceAfterWrite: async () => {
      this.#nextLink = 'hangs';
    },
    commitUnflushed: async (plant: NewPlantFields) => {
      const path = join(this.#folder, `${plant.id}.json`);
      writeFileSync(path, JSON.stringify(toPlant(newPlant(plant))));
      this.#unflushedNames.add(path);
    },
    crash: () => this.#cutPower(),
    recover: async () => {
      this.#refusesWrites = false;
      this.#nextLink = undefined;
      this.#failWith(undefined);
    },
  };
}
