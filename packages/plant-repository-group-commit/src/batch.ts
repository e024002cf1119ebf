import { meaningOf, type PlantFinding } from './finding.js';
import type { PendingPlant } from './pending-plant.js';
import type { InsertResult, PlantInsert } from './plant-database.js';

/** The shortest pause before plants are sent again, and the longest. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** A plant that had no outcome, and what an attempt to insert it has found. */
export type PlantResult = readonly [plant: PendingPlant, finding: PlantFinding];

/**
 * Plants that are inserted together, and sent together again while it is unknown what became of them.
 *
 * From the moment it is sent, the batch may be written, until a reply shows for each of its plants whether it is. A plant
 * that is given up in that time is unknown; at any other time, it is unavailable.
 */
export class Batch {
  readonly insert: PlantInsert;
  #plants: readonly PendingPlant[];
  #isSent = false;
  #isForgotten = false;
  /** How many attempts to insert it may have written a plant, or still may. */
  #openAttempts = 0;
  #errorReplies: number;

  /** @param errorReplies How many error replies in a row its plants have had. */
  constructor(plants: readonly PendingPlant[], insert: PlantInsert, errorReplies = 0) {
    this.#plants = plants;
    this.insert = insert;
    this.#errorReplies = errorReplies;
    for (const plant of plants) plant.join(this);
  }

  /** Its plants: until it is sent, all; then those that were sent. */
  get plants(): readonly PendingPlant[] {
    return this.#plants;
  }

  get pending(): readonly PendingPlant[] {
    return this.#plants.filter(({ isSettled }) => !isSettled);
  }

  get isOver(): boolean {
    return this.#plants.every(({ isSettled }) => isSettled);
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  /** Whether it may be sent: not if no caller waits, or its plants have another batch. */
  get canBeSent(): boolean {
    return !this.#isForgotten && !this.isOver;
  }

  /** Whether it is unknown which of its plants are written, or will be. */
  get isPossiblyWritten(): boolean {
    return this.#openAttempts > 0;
  }

  /** By the clock. */
  get deadline(): number {
    return Math.max(...this.#plants.map(({ call }) => call.deadline));
  }

  get errorReplies(): number {
    return this.#errorReplies;
  }

  /** The pause doubles with each error reply, because the server may be limiting the rate. */
  get pauseMs(): number {
    return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, this.#errorReplies - 1));
  }

  /** Ends it: an attempt that still waits for a connection sends nothing. */
  forget(): void {
    this.#isForgotten = true;
    this.insert.end();
  }

  /** It is sent: at first, only the plants that a caller still waits for. */
  begin(): void {
    if (!this.#isSent) this.#plants = this.pending;
    this.#isSent = true;
    this.#openAttempts += 1;
  }

  /** An attempt to insert it has ended. Returns what was found about the plants that had no outcome before. */
  end({ findings, error }: InsertResult): readonly PlantResult[] {
    const found = this.#plants.map((plant, at): PlantResult => {
      const finding = typeof findings === 'string' ? findings : (findings[at] ?? 'unknown');
      return [plant, finding];
    });
    const answers = found.map(([, finding]) => meaningOf(finding));
    if (answers.every(({ written }) => written !== 'unknown')) this.#openAttempts -= 1;
    if (answers.some(({ slowsRetries }) => slowsRetries)) this.#errorReplies += 1;
    const open = found.filter(([plant]) => !plant.isSettled);
    for (const [plant, finding] of open) plant.endInsert(finding, error);
    return open;
  }
}
