import { type NewPlant, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { meaningOf, type PlantFinding } from './finding.js';
import type { GroupCommitOptions } from './group-commit.js';
import type { PendingPlant } from './pending-plant.js';
import { findingAt, type InsertResult, type PlantInsert } from './plant-database.js';

/** The shortest pause before plants are sent again, and the longest. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/**
 * Plants that are inserted together until each has an outcome.
 *
 * The batch may be written from the moment an attempt is sent until the attempt's reply says, for each plant, whether it is
 * written. If the reply is lost, the batch stays possibly written. During that time, the same insert is sent again, and a plant
 * that is given up is unknown. At any other time, a plant that is given up is unavailable, and a new insert is sent with the
 * plants that have no outcome yet.
 */
export class Batch {
  readonly #options: GroupCommitOptions;
  #plants: readonly PendingPlant[];
  /** `undefined` until an attempt needs one, and again when it is known what it has written. */
  #insert: PlantInsert | undefined;
  /** How many attempts may have written a plant, or still may. */
  #openAttempts = 0;
  /** How many replies it has had, each of which may have left plants without an outcome. */
  #replies = 0;
  #cause: unknown;

  constructor(plants: readonly PendingPlant[], options: GroupCommitOptions) {
    this.#options = options;
    this.#plants = plants;
    for (const plant of plants) plant.join(this);
  }

  /** The plants of the latest insert. */
  get plants(): readonly PendingPlant[] {
    return this.#plants;
  }

  get pending(): readonly PendingPlant[] {
    return this.#plants.filter(({ isSettled }) => !isSettled);
  }

  get isOver(): boolean {
    return this.#plants.every(({ isSettled }) => isSettled);
  }

  /** Whether it is unknown which of its plants are written, or will be. */
  get isPossiblyWritten(): boolean {
    return this.#openAttempts > 0;
  }

  /** Whether it may be sent. Once it may be written, only if the database recognises its insert. */
  get isRepeatable(): boolean {
    return !this.isPossiblyWritten || this.insert.isRepeatable;
  }

  /** What the next attempt sends. */
  get insert(): PlantInsert {
    this.#insert ??= this.#options.database.newInsert();
    return this.#insert;
  }

  /** When its last caller stops waiting, by the clock. */
  get deadline(): number {
    return Math.max(...this.#plants.map(({ call }) => call.deadline));
  }

  /** The pause doubles with each reply that leaves plants without an outcome: the server may be limiting the rate. */
  get pauseMs(): number {
    return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, this.#replies - 1));
  }

  /** Why the latest attempt has left plants without an outcome. */
  get cause(): unknown {
    return this.#cause;
  }

  /** Returns the plants that an attempt sends now: none if no caller waits, or if another insert has replaced this one. */
  take(insert: PlantInsert): readonly NewPlant[] {
    if (this.isOver || insert !== this.#insert) return [];
    if (!this.isPossiblyWritten) this.#plants = this.pending;
    this.#openAttempts += 1;
    return this.#plants.map(({ plant }) => plant);
  }

  /** Takes in what an attempt that was sent has found, and settles plants. */
  count(result: InsertResult): void {
    const found = this.#plants.map((_, at) => findingAt(result, at));
    if (found.every((it) => meaningOf(it).written !== 'unknown')) this.#openAttempts -= 1;
    if (!this.isPossiblyWritten) this.endInsert();
    if (result.findings !== 'unreachable') this.#replies += 1;
    this.#cause = result.error;
    for (const [at, plant] of this.#plants.entries()) this.#learn(plant, found[at] ?? 'unknown');
  }

  /** Takes in why an attempt has ended before it was sent. */
  countUnsent({ findings, error }: InsertResult): void {
    this.#cause = error ?? this.#cause;
    const found = typeof findings === 'string' ? findings : 'unknown';
    for (const plant of this.#plants) this.#learn(plant, found);
  }

  /** Settles the plants that have no outcome: as unknown if they may be written, otherwise as unavailable. */
  giveUp(why?: string): void {
    for (const plant of this.#plants) plant.giveUp(this.#cause, why);
  }

  /** Ends the insert. A further attempt gets a new one. */
  endInsert(): void {
    this.#insert?.end?.();
    this.#insert = undefined;
  }

  #learn(plant: PendingPlant, found: PlantFinding): void {
    const { database, observer } = this.#options;
    const { written, needsAdministrator } = meaningOf(found);
    if (written === 'yes') plant.settle();
    if (written === 'taken') {
      plant.settle(new PlantIdTakenError('a plant with this id was stored before'));
    }
    // Another attempt may have written it, before the database had the rule that refuses it.
    if (this.isPossiblyWritten) return;
    if (typeof found === 'object') {
      const { code, reason } = found;
      observer({ type: 'plant refused', id: plant.plant.id, code, reason });
      plant.settle(new Error(`the database refuses a plant that the service accepts (${code})`));
    } else if (needsAdministrator) {
      const error = this.#cause;
      const isExplained = error instanceof StoreUnavailableError;
      const { message, cause } = isExplained ? error : database.explain(error).cause;
      plant.giveUp(cause, message);
    }
  }
}
