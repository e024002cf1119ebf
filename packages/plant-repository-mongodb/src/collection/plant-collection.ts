import type { ObjectId } from 'mongodb';
import type { InsertResult } from './insert-outcome.js';
import type { PlantDocument } from './plant-document.js';

/** One insert that was started. */
export interface InsertAttempt {
  /** Whether a part of it may have left this process. Once true, it stays true. */
  readonly sent: boolean;
  /** Ends an insert that has not been sent, so that it never is. One that was sent continues. */
  cancel(): void;
  /** Never rejects. */
  readonly result: Promise<InsertResult>;
}

/** The operations on the collection of plants. Each is attempted once and has a time limit. */
export interface PlantCollection {
  /**
   * Inserts documents durably and unordered: each is written or not, independently of the others.
   *
   * @param documents Read when the insert is sent. Until then, the caller may remove some, which are not written.
   * @param timeLimit Milliseconds for the server once the insert was sent. Until then, only
   * {@link InsertAttempt.cancel} ends the wait for a server.
   */
  insert(documents: PlantDocument[], timeLimit: number): InsertAttempt;

  /**
   * Resolves with the marks of the documents with these ids that a majority has. The mark is `undefined` for a
   * document of another program.
   *
   * @param timeLimit Milliseconds after which it rejects.
   */
  committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>>;
}
