/** Whether the seat is reserved, or whose it is, is not known: the server did not respond in time. */
export class SeatsUnavailableError extends Error {
  override readonly name = 'SeatsUnavailableError';
}

/**
 * Port: the seats of a theatre. Each call settles within a second. When the server cannot be used, it rejects with
 * {@link SeatsUnavailableError}; when it can be used again, so can the same object.
 */
export interface Seats {
  /** Reserves a seat. Resolves with true if this guest has it. Of several guests, exactly one gets it and keeps it. */
  reserve(seat: string, guest: string): Promise<boolean>;

  /** Resolves with the guest of a seat, and with `undefined` when it is free. */
  guestOf(seat: string): Promise<string | undefined>;
}
