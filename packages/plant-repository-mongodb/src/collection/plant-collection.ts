import type { ObjectId } from 'mongodb';
import type { InsertResult } from './insert-outcome.js';
import type { PlantDocument } from './plant-document.js';

/** The operations on the collection of plants. Each is attempted once and has a time limit. */
export interface PlantCollection {
  /**
   * Inserts documents durably and unordered: each is written or not, independently of the others. Never rejects.
   *
   * @param read Returns the documents. Called once, before a part of the insert leaves this process; never when it is
   * not sent.
   * @param timeLimitMs Milliseconds for the server, from that call.
   */
  insert(read: () => readonly PlantDocument[], timeLimitMs: number): Promise<InsertResult>;

  /**
   * Resolves with the marks of the documents with these ids that a majority has. The mark is `undefined` for a
   * document of another program.
   *
   * @param timeLimitMs Milliseconds after which it rejects.
   */
  committedMarks(
    ids: readonly bigint[],
    timeLimitMs: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>>;
}
