import type { ObjectId } from 'mongodb';
import type { InsertResult } from './insert-outcome.js';
import type { PlantDocument } from './plant-document.js';

/** One insert on its way to the database. */
export interface InsertAttempt {
  /** Whether a byte of it may have left this process. Once true it stays true. */
  readonly sent: boolean;
  /** Takes back an insert that has not been sent: it will not be. One that was sent ends unclear. */
  abort(): void;
  /** Never rejects. */
  readonly result: Promise<InsertResult>;
}

/** What storing plants needs of a database. Nothing is tried twice, nothing takes for ever. */
export interface PlantCollection {
  /**
   * Inserts documents in no order, durably: each is written or not, whatever becomes of the others.
   *
   * @param timeLimit Milliseconds that the server is given once the insert was sent. Until then
   * only {@link InsertAttempt.abort} ends the wait for a server.
   */
  insert(documents: readonly PlantDocument[], timeLimit: number): InsertAttempt;

  /**
   * The marks of the documents with these ids that a majority has.
   * A document of another program may have none.
   *
   * @param timeLimit Milliseconds; rejects when it cannot be found out within them.
   */
  committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>>;
}
